"""The stored form of a browser's secret token."""

from __future__ import annotations

import hashlib


def token_sha256(token: str) -> str:
    """Return the hash that is stored instead of a token: a copy of the database gives no access."""
    return hashlib.sha256(token.encode()).hexdigest()
