"""Expert review: who judges what, the sheet a reviewer sees, the verdicts, and how far a batch has come."""
