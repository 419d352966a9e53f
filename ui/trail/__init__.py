"""The audit trail as its page shows it."""
