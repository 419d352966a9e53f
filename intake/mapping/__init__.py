"""Mapping files, which declare how the columns of another file become questions (docs/formats/mapping.md)."""
