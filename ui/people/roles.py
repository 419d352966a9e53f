"""Describes roles and reads the roles that a person selected."""

from __future__ import annotations

from domain.people import Role
from ui import state

_ROLE_PURPOSES = {
    Role.ADMIN: "manages accounts and roles",
    Role.COORDINATOR: "imports data, assigns batches, makes releases",
    Role.REVIEWER: "judges questions",
    Role.READER: "answers questions in reader studies",
    Role.SUBMITTER: "submits predictions to leaderboards and sees only the scores",
}


def read_chosen_roles(key: str) -> list[Role]:
    """Return the roles that are selected in the widget with that key."""
    chosen_names = state.get_widget_value(key)
    return [Role(name) for name in chosen_names] if isinstance(chosen_names, list) else []


def describe_role(role: Role) -> str:
    """Return the name of a role with its purpose."""
    return f"{role.value}: {_ROLE_PURPOSES[role]}"
