"""The reading form: what a reader is handed of a case, what comes back, and its browser part."""
