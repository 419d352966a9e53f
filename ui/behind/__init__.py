"""Work that goes on behind a page, and how far it is."""
