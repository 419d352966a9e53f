"""Parts of the pages on which open answers are marked."""
