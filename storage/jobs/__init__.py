"""Storage of jobs."""
