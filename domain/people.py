"""People, and the permission check of every service; domain/access.py has the table of permissions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from domain.access import ACTIONS_BY_ROLE, Action, Role
from domain.errors import InvalidValue, NotAllowed

__all__ = ["ACTIONS_BY_ROLE", "Action", "Person", "Role", "normalise_sign_in_name", "require"]


_SIGN_IN_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody with an account; ``name`` is the sign-in name, ``display_name`` is shown to others."""

    id: int
    name: str
    display_name: str
    roles: frozenset[Role]
    demo: bool = False
    disabled_at: datetime | None = None

    def may(self, action: Action) -> bool:
        """Whether the account is not disabled and one of the person's roles allows the action.

        Args:
            action: what the person wants to do.
        """
        return self.disabled_at is None and any(action in ACTIONS_BY_ROLE[role] for role in self.roles)


def require(person: Person, action: Action) -> None:
    """Check that a person may do something; every service calls it first.

    Args:
        person: who acts.
        action: what they want to do.

    Raises:
        NotAllowed: none of the person's roles allows the action, or the account is disabled.
    """
    if not person.may(action):
        roles = ", ".join(sorted(person.roles)) or "no role"
        raise NotAllowed(
            f"{person.display_name} ({roles}) may not {action}. Ask an admin for a role that permits it."
        )


def normalise_sign_in_name(name: str) -> str:
    """Check a sign-in name and bring it to its stored form.

    Args:
        name: as typed.

    Returns:
        In lower case, without spaces around it.

    Raises:
        InvalidValue: not 1 to 64 of a-z, 0-9 and . _ @ + -, beginning with a letter or digit.

    >>> normalise_sign_in_name(" Anna.Lee ")
    'anna.lee'
    """
    normalised = name.strip().lower()
    if not _SIGN_IN_NAME.fullmatch(normalised):
        raise InvalidValue(
            "name",
            (
                f"{name!r} must have 1 to 64 characters of a-z, 0-9 and . _ @ + -, and begin with a letter "
                "or digit"
            ),
        )
    return normalised
