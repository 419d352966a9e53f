"""Computes the measures of a table of ratings: one module per kind of result in :mod:`measures.results`."""
