"""Releases, the frozen gold set: the rule that chooses questions, writers, manifest, verification."""
