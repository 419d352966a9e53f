"""Shared by the review, reading and adjudication forms: their browser files, routes and labels."""
