"""Passwords: rules, hashing and checking (argon2id with the library's recommended cost)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from domain.errors import InvalidValue

if TYPE_CHECKING:
    from argon2 import PasswordHasher

#: Any characters are allowed; length makes guessing slow (NIST SP 800-63B, 5.1.1.2, requires 8 or more).
MINIMUM_LENGTH = 10
#: Limits the time for hashing; long passwords could otherwise be used to slow down the app.
MAXIMUM_LENGTH = 512

#: The password of all demo accounts, shown on the sign-in page. No other account has it by default.
DEMO_PASSWORD = "demo-password"  # noqa: S105 - public on purpose


def check_password_rules(password: str, *, name: str) -> None:
    """Check a new password: 10 to 512 characters, not the sign-in name.

    Raises:
        InvalidValue: the password violates a rule; the message states the rule, never the password.
    """
    if len(password) < MINIMUM_LENGTH:
        raise InvalidValue("password", f"must have at least {MINIMUM_LENGTH} characters of any kind")
    if len(password) > MAXIMUM_LENGTH:
        raise InvalidValue("password", f"must have at most {MAXIMUM_LENGTH} characters")
    if password.strip().lower() == name.strip().lower():
        raise InvalidValue("password", "must not be the sign-in name")


def hash_password(password: str) -> str:
    """Hash a password with argon2id and a new salt, in the PHC string format."""
    return _hasher().hash(password)


def verify_password(password: str, password_hash: str | None) -> bool:
    """Return whether a password matches a hash.

    If there is no hash (no such name, or no password), a dummy hash is checked, so that the response time
    does not reveal which names exist.
    """
    from argon2.exceptions import InvalidHashError, VerificationError  # noqa: PLC0415 - see _hasher

    try:
        _hasher().verify(password_hash or _dummy_hash(), password)
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


def needs_rehash(password_hash: str) -> bool:
    """Return whether the library's recommended cost has changed since the hash was created."""
    return _hasher().check_needs_rehash(password_hash)


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher  # noqa: PLC0415 - most commands need no password

    return PasswordHasher()


@cache
def _dummy_hash() -> str:
    return _hasher().hash("nobody has this password")
