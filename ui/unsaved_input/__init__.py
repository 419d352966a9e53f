"""Unsaved text of a page: the browser keeps it, and restores it after a reload."""
