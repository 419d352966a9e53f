"""Storage of the checks of questions: their state, and the problems that they report."""
