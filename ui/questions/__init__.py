"""A question as pages show it."""
