"""Parts of the page Language models."""
