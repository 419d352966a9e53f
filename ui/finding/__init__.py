"""Parts of the page that finds questions."""
