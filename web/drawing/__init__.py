"""Boxes drawn in the browser: the data for the viewer and the plain editor, and the boxes from them."""
