"""Overread in the terminal: ``python cli.py --help``. The same services as the screens, for scripts."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from importlib.util import find_spec

from domain.errors import DomainError
from domain.file_errors import file_trouble
from storage.schema import prepare_workspace

#: In the order in which they are used.
FAMILIES = (
    "user",
    "import_",
    "check",
    "deidentify",
    "workspace",
    "patient_data",
    "find",
    "history",
    "apply",
    "sample",
    "batch",
    "settings",
    "assign",
    "adjudicate",
    "progress",
    "agreement",
    "hide",
    "attention",
    "estimate",
    "statistics",
    "release",
    "study",
    "audit",
    "measure",
    "counts",
    "score",
    "image",
    "backup",
    "restore",
    "health",
    "demo",
)


def main(arguments: list[str]) -> int:
    """0 done, 1 refused with the reasons on standard error, 2 wrong usage."""
    parser = argparse.ArgumentParser(
        prog="cli.py",
        description="Expert review of machine-written chest X-ray questions.",
        epilog="The workspace is the folder OVERREAD_HOME, by default workspace/ beside the code.",
    )
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for family in _wanted(arguments):
        if find_spec(f"commands.{family}") is not None:
            import_module(f"commands.{family}").add_to(subparsers)
    chosen = parser.parse_args(arguments)
    try:
        if getattr(chosen, "needs_workspace", True):  # checking a release somebody sent needs none
            prepare_workspace()
        return chosen.run(chosen)
    except DomainError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; what was not finished was undone.", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read the output has seen enough: `… | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # no room, no permission, a folder where a file should be
        print(file_trouble(error), file=sys.stderr)
        return 1


def _wanted(arguments: list[str]) -> tuple[str, ...]:
    """The one family that is called, so that the others are not waited for; all of them for ``--help``."""
    called = next(
        (family for family in FAMILIES if family.rstrip("_").replace("_", "-") in arguments[:1]), None
    )
    return FAMILIES if called is None else (called,)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
