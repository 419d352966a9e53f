"""The line between page and server: what the page shows while it is cut."""
