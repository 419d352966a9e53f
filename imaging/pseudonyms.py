"""Numbers of patients and files turned into others by a key: the same one always the same way, for
whoever has the key; without it nobody can tell which it was, nor try out all numbers there are.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid
from dataclasses import dataclass, field

LENGTH = 32  # bytes of a key


@dataclass(frozen=True, slots=True, kw_only=True)
class PseudonymKey:
    """A secret of ``LENGTH`` random bytes, the workspace's own or made for one run."""

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) != LENGTH:
            raise ValueError(f"a key has {LENGTH} bytes, not {len(self.secret)}")

    def patient(self, number: str) -> str:
        """``patient-`` and 16 hex digits: keeps the images of one patient together."""
        return "patient-" + self._digest("patient", number).hex()[:16]

    def uid(self, uid: str) -> str:
        """A UID under 2.25, made of a UUID (PS3.5 B.2): the same for the same UID in every file."""
        return f"2.25.{uuid.UUID(bytes=self._digest('uid', uid)[:16], version=5).int}"

    def name(self, part: str) -> str:
        """12 hex digits in place of a part of a path."""
        return self._digest("name", part).hex()[:12]

    def mark(self) -> str:
        """8 hex digits that tell this key from others without telling the key."""
        return self._digest("mark", "").hex()[:8]

    def _digest(self, kind: str, text: str) -> bytes:
        return hmac.digest(self.secret, f"{kind}:{text}".encode(), hashlib.sha256)
