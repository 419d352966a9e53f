"""Boxes that are drawn in the browser: the data of viewer and plain editor, and boxes from what they send."""
