"""Compliance of a dataset: associations that may be biases, and answers that follow from the text alone."""
