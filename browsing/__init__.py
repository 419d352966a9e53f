"""Finding a question among all of them, and its whole history."""
