"""Parts of the page that searches questions."""
