"""The frozen gold set: the rule that chooses the questions, the writers, the manifest, the check of it."""
