"""Expert review: assignments, the review form, verdicts, adjudication, and the progress of a batch."""
