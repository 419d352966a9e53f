"""The audit trail: its entries, what they hold, and the judgements that they are compared with."""
