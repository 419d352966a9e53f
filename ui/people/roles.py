"""Roles as a choice on the screen."""

from __future__ import annotations

from domain.people import Role
from ui import state

_ROLE_PURPOSES = {
    Role.ADMIN: "manages accounts and roles",
    Role.COORDINATOR: "imports data, assigns batches, makes releases",
    Role.REVIEWER: "judges questions",
    Role.READER: "answers questions in reader studies",
}


def read_chosen_roles(key: str) -> list[Role]:
    """Return the selected roles of the widget with that key."""
    chosen_names = state.get_widget_value(key)
    return [Role(name) for name in chosen_names] if isinstance(chosen_names, list) else []


def describe_role(role: Role) -> str:
    """Return a role with its purpose."""
    return f"{role.value}: {_ROLE_PURPOSES[role]}"
