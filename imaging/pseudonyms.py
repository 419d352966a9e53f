"""Pseudonyms made with a secret key.

The same input and key give the same pseudonym. Without the key the input can't be found, not even by trying
all possible numbers.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid
from dataclasses import dataclass, field

KEY_LENGTH = 32  # bytes of a key


@dataclass(frozen=True, slots=True, kw_only=True)
class PseudonymKey:
    """A secret of ``KEY_LENGTH`` random bytes: that of the workspace, or one made for a single run.

    Raises:
        ValueError: another length.
    """

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) != KEY_LENGTH:
            raise ValueError(f"a key has {KEY_LENGTH} bytes, not {len(self.secret)}")

    def patient_pseudonym(self, number: str) -> str:
        """``patient-`` and 16 hex digits, the same for all images of a patient.

        Args:
            number: Patient ID (0010,0020).
        """
        return "patient-" + self._digest("patient", number).hex()[:16]

    def uid_pseudonym(self, uid: str) -> str:
        """A UID under 2.25, made from a UUID (PS3.5 B.2).

        Args:
            uid: the original UID.
        """
        return f"2.25.{uuid.UUID(bytes=self._digest('uid', uid)[:16], version=5).int}"

    def path_pseudonym(self, part: str) -> str:
        """12 hex digits, for a part of a path.

        Args:
            part: a file or folder name.
        """
        return self._digest("name", part).hex()[:12]

    def fingerprint(self) -> str:
        """8 hex digits that identify the key without revealing it."""
        return self._digest("mark", "").hex()[:8]

    def _digest(self, kind: str, text: str) -> bytes:
        return hmac.digest(self.secret, f"{kind}:{text}".encode(), hashlib.sha256)
