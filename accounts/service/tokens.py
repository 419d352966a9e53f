"""What is kept of a secret that a browser holds."""

from __future__ import annotations

import hashlib


def token_sha256(token: str) -> str:
    """What is kept of a token: a copy of the database opens no session."""
    return hashlib.sha256(token.encode()).hexdigest()
