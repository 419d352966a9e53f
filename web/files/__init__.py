"""Routes for downloads."""
