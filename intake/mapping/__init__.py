"""Mapping files: declare how the columns of a foreign file become questions (docs/formats/mapping.md)."""
