"""Roles as a choice on the screen."""

from __future__ import annotations

from domain.people import Role
from ui import state

_WHAT = {
    Role.ADMIN: "gives accounts and roles",
    Role.COORDINATOR: "imports, draws, assigns, releases",
    Role.REVIEWER: "judges questions",
    Role.READER: "answers questions in reader studies",
}


def chosen_roles(key: str) -> list[Role]:
    """Return the selected roles of the widget with that key."""
    chosen = state.field(key)
    return [Role(each) for each in chosen] if isinstance(chosen, list) else []


def role_words(role: Role) -> str:
    """Return a role with its purpose."""
    return f"{role.value}: {_WHAT[role]}"
