"""Estimators: pure functions from counts to numbers. What is undefined is None, with the reason."""
