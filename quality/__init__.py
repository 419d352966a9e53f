"""Automatic checks, made before an expert's time is spent."""
