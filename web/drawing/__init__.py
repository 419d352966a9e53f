"""Boxes drawn in the browser: data for the viewer and the plain editor, and the boxes they send back."""
