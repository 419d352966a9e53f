"""Parts of the page Model scores."""
