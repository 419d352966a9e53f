"""Accounts: people, their roles, passwords and sign-ins, and the audit trail."""
