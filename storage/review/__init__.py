"""Assignments, claims, verdicts, adjudications and hidden questions: rows in and out."""
