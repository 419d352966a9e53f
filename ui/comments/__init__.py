"""Comments between reviewers and coordinators, on Home and on the history of a question."""
