"""Parts of the page Checks for juries of language models."""
