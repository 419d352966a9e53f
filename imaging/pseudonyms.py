"""Creates pseudonyms with a secret key.

The same input and key give the same pseudonym. Without the key the input can't be recovered, not even by
hashing all possible Patient IDs.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid
from dataclasses import dataclass, field

KEY_LENGTH = 32  # bytes of a key


@dataclass(frozen=True, slots=True, kw_only=True)
class PseudonymKey:
    """A secret of ``KEY_LENGTH`` random bytes: the workspace's secret, or one made for a single run.

    Raises:
        ValueError: the secret does not have ``KEY_LENGTH`` bytes.
    """

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) != KEY_LENGTH:
            raise ValueError(f"a key must have {KEY_LENGTH} bytes, not {len(self.secret)}")

    def pseudonymize_patient_id(self, patient_id: str) -> str:
        """Return ``patient-`` and 16 hex digits. The pseudonym is the same for all images of a patient.

        Args:
            patient_id: Patient ID (0010,0020).
        """
        return "patient-" + self._digest("patient", patient_id).hex()[:16]

    def pseudonymize_uid(self, uid: str) -> str:
        """Return a new UID under the root 2.25, made from a UUID (PS3.5 B.2).

        Args:
            uid: the original UID.
        """
        return f"2.25.{uuid.UUID(bytes=self._digest('uid', uid)[:16], version=5).int}"

    def pseudonymize_name(self, name: str) -> str:
        """Return 12 hex digits that replace a file or folder name.

        Args:
            name: the file or folder name.
        """
        return self._digest("name", name).hex()[:12]

    def fingerprint(self) -> str:
        """Return 8 hex digits that identify the key without revealing it."""
        return self._digest("mark", "").hex()[:8]

    def _digest(self, kind: str, text: str) -> bytes:
        return hmac.digest(self.secret, f"{kind}:{text}".encode(), hashlib.sha256)
