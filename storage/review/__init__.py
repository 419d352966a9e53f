"""Storage of assignments, claims, verdicts, adjudications and hidden questions."""
