"""House rules that no ready-made linter knows. Run them with ``python -m lints``."""
