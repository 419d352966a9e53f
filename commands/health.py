"""``cli.py health``: run the checks of /health/ready and print their results."""

from __future__ import annotations

import argparse

from commands.arguments import Subparsers
from domain.version import VERSION
from storage.health import run_health_checks
from storage.workspace import current_workspace


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "health",
        description="Check database, tables, disk and image store. The exit status is 1 if a check fails.",
    )
    parser.set_defaults(run=run, needs_workspace=False)


def run(args: argparse.Namespace) -> int:  # noqa: ARG001 - all commands have this signature
    """Print one line per check, and one further line per difference in the tables.

    Returns 0 if all checks pass, else 1.
    """
    checks = run_health_checks(current_workspace())
    print(f"Overread {VERSION}")
    for check in checks:
        message = check.detail.replace("\n", "\n" + 16 * " ")
        print(f"{check.name:9} {'good' if check.passed else 'BAD '}  {message}")
    return 0 if all(check.passed for check in checks) else 1
