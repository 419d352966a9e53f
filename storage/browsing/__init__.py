"""Storage for search, statistics, the history of a question, and rules applied to many questions."""
