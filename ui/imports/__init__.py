"""Importing from the browser: what was handed in, and the imports that run."""
