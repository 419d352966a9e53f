"""Parts of the page Audit trail."""
