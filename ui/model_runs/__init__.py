"""Parts of the page Model runs."""
