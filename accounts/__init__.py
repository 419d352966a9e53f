"""Who may do what: people, their roles, their passwords and their sign-ins."""
