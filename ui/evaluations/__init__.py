"""Parts of the page Evaluations."""
