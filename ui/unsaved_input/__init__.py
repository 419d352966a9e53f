"""Unsaved text of a page, which the browser keeps and restores after a reload."""
