"""Codes of authenticator apps (TOTP, RFC 6238: SHA-1, six digits, 30 seconds) and recovery codes."""

from __future__ import annotations

import hmac
from datetime import datetime

#: The number of seconds for which a code is valid.
STEP_SECONDS = 30
#: The number of steps by which the phone's clock may differ (RFC 6238, 5.2, recommends at most one).
TOLERATED_STEPS = 1


def find_step(secret: str, code: str, *, now: datetime) -> int | None:
    """Return the 30-second step of a code, which is the current one or a neighbour; None if it is neither."""
    import pyotp  # noqa: PLC0415 - needed by few requests

    digits = "".join(code.split())
    current_step = int(now.timestamp()) // STEP_SECONDS
    generator = pyotp.TOTP(secret)
    matches = [
        step
        for step in range(current_step - TOLERATED_STEPS, current_step + TOLERATED_STEPS + 1)
        if hmac.compare_digest(generator.generate_otp(step).encode(), digits.encode())
    ]
    return matches[-1] if matches else None


def normalise_recovery_code(code: str) -> str:
    """Return the code without spaces and dashes, in upper case."""
    return "".join(character for character in code.upper() if character.isalnum())
