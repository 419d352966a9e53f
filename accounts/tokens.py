"""The stored form of a secret that a browser holds."""

from __future__ import annotations

import hashlib


def token_sha256(token: str) -> str:
    """The hash that is stored instead of a token, so that a copy of the database opens no session."""
    return hashlib.sha256(token.encode()).hexdigest()
