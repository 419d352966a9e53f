"""Signing in: HTML pages, cookies, OpenID Connect, the first admin, and lookup of the signed-in person."""
