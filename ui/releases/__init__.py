"""Parts of the page of releases."""
