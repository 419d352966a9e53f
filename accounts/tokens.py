"""The stored form of a browser's secret token."""

from __future__ import annotations

import hashlib


def token_sha256(token: str) -> str:
    """The hash that is stored instead of a token, so that nobody can sign in with a copy of the database."""
    return hashlib.sha256(token.encode()).hexdigest()
