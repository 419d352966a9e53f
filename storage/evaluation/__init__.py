"""Storage of evaluations of models."""
