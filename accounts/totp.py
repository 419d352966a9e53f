"""Codes of authenticator apps (TOTP, RFC 6238: SHA-1, six digits, 30 seconds) and recovery codes."""

from __future__ import annotations

import hmac
from datetime import datetime

#: Seconds for which a code is shown.
STEP_SECONDS = 30
#: Steps by which the phone's clock may be wrong, in both directions (RFC 6238, 5.2, recommends at most one).
TOLERATED_STEPS = 1


def find_step(secret: str, code: str, *, now: datetime) -> int | None:
    """The 30-second step whose code this is, among the present one and its neighbours; None if none."""
    import pyotp  # noqa: PLC0415 - needed by few requests

    digits = "".join(code.split())
    present_step = int(now.timestamp()) // STEP_SECONDS
    generator = pyotp.TOTP(secret)
    matches = [
        step
        for step in range(present_step - TOLERATED_STEPS, present_step + TOLERATED_STEPS + 1)
        if hmac.compare_digest(generator.generate_otp(step).encode(), digits.encode())
    ]
    return matches[-1] if matches else None


def normalise_recovery_code(code: str) -> str:
    """The code without spaces and dashes, in capitals."""
    return "".join(character for character in code.upper() if character.isalnum())
