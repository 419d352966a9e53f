"""Parts of the batch pages."""
