"""Search, statistics, the history of a question, and rules applied to many."""
