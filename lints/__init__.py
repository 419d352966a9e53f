"""Lint rules that are specific to this project. Run them with ``python -m lints``."""
