"""Parts of the pages Prompt bench and Score model outputs for region checks."""
