"""Juries of language models: the criteria of the checks, and the outcome of the votes."""
