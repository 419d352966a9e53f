"""People, and the guard that every service begins with. Which role may do what stands in domain/access.py."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from domain.access import ALLOWED, Action, Role
from domain.errors import InvalidValue, NotAllowed

__all__ = ["ALLOWED", "Action", "Person", "Role", "check_name", "require"]


_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody with an account. ``name`` signs in; ``display_name`` is what others read."""

    id: int
    name: str
    display_name: str
    roles: frozenset[Role]
    demo: bool = False
    disabled_at: datetime | None = None

    def may(self, action: Action) -> bool:
        """Whether one of the person's roles covers the action and the account is not disabled."""
        return self.disabled_at is None and any(action in ALLOWED[role] for role in self.roles)


def require(person: Person, action: Action) -> None:
    """Check that the person may do it.

    Args:
        person: who acts.
        action: what they want to do.

    Raises:
        NotAllowed: none of the person's roles covers the action, or the account is disabled.
    """
    if not person.may(action):
        roles = ", ".join(sorted(person.roles)) or "no role"
        raise NotAllowed(
            f"{person.display_name} ({roles}) may not {action}. Ask an admin for the role that does."
        )


def check_name(name: str) -> str:
    """The sign-in name in lower case, without blanks around it.

    Raises:
        InvalidValue: not 1 to 64 of a-z, 0-9 and . _ @ + -, beginning with a letter or digit.

    >>> check_name(" Anna.Lee ")
    'anna.lee'
    """
    lowered = name.strip().lower()
    if not _NAME.fullmatch(lowered):
        raise InvalidValue(
            "name", f"{name!r} must be 1 to 64 of a-z, 0-9 and . _ @ + -, first a letter or digit"
        )
    return lowered
