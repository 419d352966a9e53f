"""Lint rules of this project that no ready-made linter has. Run them with ``python -m lints``."""
