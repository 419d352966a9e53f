"""Secrets for authenticator apps, with their QR codes, and recovery codes."""

from __future__ import annotations

import base64
import io
import secrets

RECOVERY_CODE_COUNT = 10
_ISSUER = "Overread"
_CODE_CHARACTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # 32 unambiguous characters; 16 of them give 80 bits


def generate_secret() -> str:
    """Return 160 random bits in base32, as RFC 4226 (section 4) recommends."""
    return base64.b32encode(secrets.token_bytes(20)).decode()


def generate_recovery_codes() -> list[str]:
    """Return ten codes such as "K7QX-2MRA-PW4C-9DHE"."""
    texts = ("".join(secrets.choice(_CODE_CHARACTERS) for _ in range(16)) for _ in range(RECOVERY_CODE_COUNT))
    return ["-".join(text[start : start + 4] for start in range(0, 16, 4)) for text in texts]


def format_secret(secret: str) -> str:
    """Return the secret in groups of four characters, to be typed."""
    return " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))


def render_qr_code(secret: str, *, name: str) -> str:
    """Return the QR code with the secret for an authenticator app, as SVG.

    It is black on white in every theme, and has the quiet zone of four modules that ISO/IEC 18004 requires.
    """
    import pyotp  # noqa: PLC0415 - needed by few requests
    import segno  # noqa: PLC0415 - needed by few requests

    uri = pyotp.TOTP(secret).provisioning_uri(name=name, issuer_name=_ISSUER)
    content = io.BytesIO()
    code = segno.make(uri, error="m", micro=False)
    code.save(content, kind="svg", xmldecl=False, scale=4, border=4, dark="#000", light="#fff")
    return content.getvalue().decode()
