"""Overread's command line interface: ``python cli.py --help``. It calls the same services as the pages."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable
from importlib import import_module

from domain.errors import DomainError
from domain.file_errors import describe_file_error
from storage.workspace import PRIVATE_UMASK

#: Commands and their purpose, in the usual order of use. A command's module is imported when it is called.
COMMANDS = {
    "user": "accounts: add, list, roles, disable, enable, sign-out, password, first-admin",
    "import": "bring in a question file and its images",
    "check": "run the structural checks on a dataset",
    "deidentify": "take the patient out of image files, one or a whole folder",
    "workspace": "show or change how the workspace keeps patient data",
    "patient-data": "look for patients in a dataset's texts and images",
    "find": "find questions by words, task, standing and more",
    "history": "tell all that happened to one question",
    "apply": "reject or queue the like of an error in the unreviewed rest",
    "sample": "draw a batch of questions for review",
    "batch": "list batches, or the questions of one",
    "settings": "show or change how a batch is judged; close it, open it again",
    "assign": "give the questions of a batch to reviewers",
    "adjudicate": "settle what reviewers disagree on",
    "progress": "who has done what of a batch, and what was found",
    "agreement": "what the reviewers of a batch agree on",
    "hide": "hide repeats and planted faults in a batch",
    "attention": "agreement with oneself, and planted faults found",
    "estimate": "say what the reviewed sample says of the whole dataset",
    "statistics": "count a dataset: tasks, categories, formats and boxes, lengths, words",
    "release": "make or check a release of the gold set",
    "study": "run a reader study: readers and models on the same cases",
    "job": "list background jobs, show one, cancel one",
    "audit": "verify the audit trail, or write it out",
    "measure": "accuracy, agreement and comparisons from a file of ratings",
    "counts": "intervals and comparisons from published counts: 166 of 198 against 153 of 198",
    "score": "score predictions against a release, its private side too",
    "image": "turn radiographs into PNG files",
    "migrate": "upgrade the tables of an older version, after a backup",
    "backup": "write the whole workspace to one file, while people work",
    "restore": "make a workspace from a backup",
    "health": "whether database, tables, disk and image store are fit to work with",
    "demo": "make a demo workspace",
}
#: Commands whose module has another name.
MODULE_NAMES = {"import": "import_", "patient-data": "patient_data"}


def main(arguments: list[str]) -> int:
    """Run a command. Returns 0 if done, 1 if refused (reasons on standard error), 2 on wrong usage."""
    parser = argparse.ArgumentParser(
        prog="cli.py",
        description="Expert review of machine-written chest X-ray questions.",
        epilog="The workspace is the folder OVERREAD_HOME, by default workspace/ beside the code.",
    )
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    command = arguments[0] if arguments else ""
    if command in COMMANDS:
        gc.disable()  # imported modules are never freed, so collecting garbage during imports wastes time
        import_module(f"commands.{MODULE_NAMES.get(command, command)}").add_to(subparsers)
        gc.freeze()
        gc.enable()
    else:
        for name, purpose in COMMANDS.items():
            subparsers.add_parser(name, help=purpose)
    parsed_arguments = parser.parse_args(arguments)
    try:
        if getattr(parsed_arguments, "needs_workspace", True):  # verifying a release needs no workspace
            from storage.schema import prepare_workspace  # noqa: PLC0415 - `--help` needs no database

            prepare_workspace()
        run: Callable[[argparse.Namespace], int] = parsed_arguments.run
        return run(parsed_arguments)
    except DomainError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; what was not finished was undone.", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader closed the pipe, as in `… | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # for example: disk full, no permission, a folder instead of a file
        print(describe_file_error(error), file=sys.stderr)
        return 1


if __name__ == "__main__":
    os.umask(PRIVATE_UMASK)
    sys.exit(main(sys.argv[1:]))
