"""Estimators: pure functions from counts to numbers, a module a family. Undefined is None, with the reason."""
