"""Parts of the page Prompts."""
