"""Parts of the page Releases."""
