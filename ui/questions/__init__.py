"""The part of a question that several pages show."""
