"""The measures of a table of ratings: one module for each kind of result of :mod:`measures.results`."""
