"""Signing in: its pages, cookies, the sign-in provider, the first admin, and who is signed in."""
