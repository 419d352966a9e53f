"""Passwords: what is accepted, and how it is kept (argon2id with the library's recommended cost)."""

from __future__ import annotations

from functools import lru_cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from domain.errors import InvalidValue

#: Any characters; length is what makes guessing slow (NIST SP 800-63B, 5.1.1.2, asks for 8 or more).
MINIMUM_LENGTH = 10
#: Long enough for any sentence; a bound, so that hashing megabytes is nobody's way to slow the app.
MAXIMUM_LENGTH = 512

#: The one password of demo people. It stands on the sign-in page; only accounts marked as demo have it.
DEMO_PASSWORD = "demo-password"  # noqa: S105 - public on purpose

_HASHER = PasswordHasher()


def check_password_rules(password: str, *, name: str) -> None:
    """Refuse a password that is too short, too long, or the sign-in name.

    Raises:
        InvalidValue: says which rule, never the password.
    """
    if len(password) < MINIMUM_LENGTH:
        raise InvalidValue("password", f"needs at least {MINIMUM_LENGTH} characters; any characters will do")
    if len(password) > MAXIMUM_LENGTH:
        raise InvalidValue("password", f"at most {MAXIMUM_LENGTH} characters")
    if password.strip().lower() == name.strip().lower():
        raise InvalidValue("password", "must not be the sign-in name")


def hash_password(password: str) -> str:
    """argon2id with a salt of its own, in the PHC string format that names its parameters."""
    return _HASHER.hash(password)


def matches(password: str, password_hash: str | None) -> bool:
    """Whether the password is the one that was hashed.

    Without a hash (nobody has that name, or the person comes by OIDC only) the same work is done on a
    dummy, so that the time of the answer does not tell which names exist.
    """
    try:
        _HASHER.verify(password_hash or _dummy_hash(), password)
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


def needs_rehash(password_hash: str) -> bool:
    """Whether the library's recommended cost has changed since the hash was made."""
    return _HASHER.check_needs_rehash(password_hash)


@lru_cache(maxsize=1)
def _dummy_hash() -> str:
    return _HASHER.hash("nobody has this password")
