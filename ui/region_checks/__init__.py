"""Parts of the pages Prompt bench and Score outputs for region checks."""
