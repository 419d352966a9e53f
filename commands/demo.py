"""``cli.py demo``: create a workspace with phantoms, questions and fictitious people."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime

from accounts.passwords import DEMO_PASSWORD
from commands.arguments import Subparsers
from demo.existing import workspace_exists
from storage.workspace import current_workspace


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "demo",
        description="Create a workspace at OVERREAD_HOME with phantom exams, questions with planted errors, "
        "demo accounts and partly reviewed batches. This takes less than two minutes and needs no network.",
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--if-missing", action="store_true", help="do nothing if the workspace already exists"
    )
    choice.add_argument(
        "--again",
        action="store_true",
        help="create the demo workspace again and lose all changes to it; other workspaces are never "
        "replaced. Stop the app first",
    )
    # The command creates the workspace itself. No database may exist before, not even an empty one.
    parser.set_defaults(run=run, needs_workspace=False)


def run(args: argparse.Namespace) -> int:
    """Create the demo workspace. Returns 0; raises DomainError if refused."""
    workspace = current_workspace()
    if args.if_missing and workspace_exists(workspace):
        return 0
    from demo.workspace import make_demo  # noqa: PLC0415 - slow, and rarely needed

    started_at = time.monotonic()

    def print_step(step: str) -> None:
        print(f"{time.monotonic() - started_at:5.0f} s  {step}", file=sys.stderr, flush=True)

    print_step(f"Creating a demo workspace in {workspace.home}")
    result = make_demo(
        workspace, now=datetime.now(UTC), report_progress=print_step, replace_existing=args.again
    )
    print_step("Done")
    print(
        f"The demo workspace is in {workspace.home}: {result.questions:,} questions on {result.exams} phantom"
        f" exams, {result.planted} of them with a planted error."
    )
    print(
        f"Start the app with `make app` and sign in as ada, dana, rosa, ravi, renate or leo: {DEMO_PASSWORD}"
    )
    return 0
