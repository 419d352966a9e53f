"""Storage for search, statistics, the history of a question, and bulk actions."""
