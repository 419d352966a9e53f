"""People, and the permission check that services use; domain/access.py has the table of permissions."""

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
    """A person with an account; ``name`` is the sign-in name, ``display_name`` is shown to others."""

    id: int
    name: str
    display_name: str
    roles: frozenset[Role]
    demo: bool = False
    disabled_at: datetime | None = None

    def may(self, action: Action) -> bool:
        """Whether one of the person's roles permits the action and the account is not disabled.

        Args:
            action: the action to check.
        """
        return self.disabled_at is None and any(action in ACTIONS_BY_ROLE[role] for role in self.roles)


def require(person: Person, action: Action) -> None:
    """Check that a person may do an action. Each service calls this function first.

    Args:
        person: the acting person.
        action: the action to check.

    Raises:
        NotAllowed: none of the person's roles permits the action, or the account is disabled.
    """
    if not person.may(action):
        roles = ", ".join(sorted(person.roles)) or "no role"
        raise NotAllowed(
            f"{person.display_name} ({roles}) may not {action}. Ask an admin for a role that permits it."
        )


def normalise_sign_in_name(name: str) -> str:
    """Check and normalise a sign-in name.

    Args:
        name: the name that the user entered.

    Returns:
        The name in lower case, without surrounding spaces.

    Raises:
        InvalidValue: the name does not have 1 to 64 characters of a-z, 0-9 and . _ @ + -, or does not begin
            with a letter or digit.

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
