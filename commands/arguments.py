"""Shared helpers of the commands: the type of argparse's subparsers, and the parsing of ``--checks``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TypeAlias

from domain.errors import InvalidValue

if TYPE_CHECKING:
    from domain.checks import Check

#: What ``ArgumentParser.add_subparsers()`` returns; argparse has no public name for this type.
Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def parse_checks(text: str) -> tuple[Check, ...]:
    """Parse a list of checks such as "format,completeness".

    Returns:
        The checks without duplicates, in the order of :class:`Check`.

    Raises:
        InvalidValue: a name is not the name of a check.
    """
    from domain.checks import Check  # noqa: PLC0415 - most commands need no checks

    names = {name.strip() for name in text.split(",") if name.strip()}
    unknown_names = sorted(names - {check.value for check in Check})
    if unknown_names:
        all_names = ", ".join(check.value for check in Check)
        raise InvalidValue("checks", f"{unknown_names[0]!r} is not a check. Checks: {all_names}")
    return tuple(check for check in Check if check.value in names)
