"""Storage of leaderboards."""
