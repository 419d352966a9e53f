"""Searching questions, their history, and statistics of a dataset."""
