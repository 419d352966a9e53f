"""Parts of the pages Browse and Statistics."""
