"""Parts of the page Review: its address, returning a question, and the page without a question."""
