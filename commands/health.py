"""``cli.py health``: what /health/ready looks at, with what it found."""

from __future__ import annotations

import argparse

from commands.arguments import Subparsers
from domain.version import VERSION
from storage.health import health_of
from storage.workspace import current_workspace


def add_to(subparsers: Subparsers) -> None:
    """The command and what it takes."""
    parser = subparsers.add_parser(
        "health",
        description="Look at database, tables, disk and image store. Ends with 1 where one is not fit.",
    )
    parser.set_defaults(run=run, needs_workspace=False)


def run(args: argparse.Namespace) -> int:  # noqa: ARG001 - every command is given its arguments
    """One line each; a line more for each difference of the tables."""
    found = health_of(current_workspace())
    print(f"Overread {VERSION}")
    for check in found:
        said = check.said.replace("\n", "\n" + 16 * " ")
        print(f"{check.name:9} {'good' if check.good else 'BAD '}  {said}")
    return 0 if all(check.good for check in found) else 1
