"""Storage of the audit trail: its entries, their content, and the judgements that they are compared with."""
