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

#: Commands and their purposes, in the usual order of use. Only the module of the called command is imported.
COMMANDS = {
    "user": "manage accounts, roles and passwords",
    "import": "import questions, predictions or readings",
    "generate": "generate questions from reports, scene graphs or label tables",
    "check": "run the checks on a dataset",
    "jury": "check the content of questions by juries of language models",
    "duplicates": "find near-duplicate questions and contradicting keys",
    "compliance": "examine a dataset for patient data, terms of use, biases and shortcuts",
    "taxonomy": "map names of categories and regions to controlled names",
    "deidentify": "de-identify image files",
    "workspace": "show or change the patient data rules of the workspace",
    "patient-data": "search texts and images of a dataset for patient data",
    "find": "find questions by words, task, status and more",
    "history": "show the history of a question",
    "comment": "list the comments of reviewers, or answer one",
    "apply": "reject or queue unreviewed questions that match a search",
    "sample": "draw a batch of questions for review",
    "batch": "list batches, or the questions of a batch",
    "settings": "show or change the settings of a batch; close or reopen it",
    "practice": "create and assign practice sets that qualify reviewers",
    "assign": "assign the questions of a batch to reviewers",
    "adjudicate": "adjudicate disputes between reviewers",
    "progress": "show the progress of a batch and the reported errors",
    "agreement": "show the agreement of the reviewers of a batch",
    "hide": "hide repeats and planted faults in a batch",
    "attention": "show intra-reviewer agreement and planted faults found",
    "estimate": "estimate error rates of the whole dataset",
    "statistics": "show tasks, categories, formats, boxes, lengths and words of datasets",
    "leaks": "find patients, images and reports that several datasets share",
    "release": "create, verify, compare or list releases of the gold set",
    "errata": "report problems in released questions, and list how they were settled",
    "study": "create, run and analyse reader studies",
    "model": "add, test and list endpoints of language models; data use of datasets",
    "prompt": "store, show and compare versions of prompts for language models",
    "run": "start, follow and end runs of requests to a language model",
    "evaluate": "evaluate models on a release, with control conditions",
    "leaderboard": "create and maintain leaderboards over the private split of a release",
    "bench": "compare versions of a prompt by the scores of experts",
    "region-check": "check the regions of sentences by the marks of experts",
    "job": "list, show or cancel background jobs",
    "audit": "verify or export the audit trail, or take a checkpoint",
    "measure": "compute accuracy, agreement and comparisons from a file of ratings",
    "counts": "compute intervals and comparisons from published counts",
    "score": "score predictions against a release",
    "extraction": "count which extraction rules read the replies of a model",
    "image": "convert radiographs to PNG files",
    "migrate": "back up the workspace and upgrade its tables",
    "backup": "back up the whole workspace to one file",
    "restore": "restore a workspace from a backup",
    "health": "check database, tables, disk and image store",
    "demo": "create a demo workspace",
}
#: The modules of commands whose name is not a valid module name.
MODULE_NAMES = {"import": "import_", "patient-data": "patient_data", "region-check": "region_check"}


def main(arguments: list[str]) -> int:
    """Run a command. Returns 0 on success, 1 on an error, which is printed, and 2 on wrong usage."""
    parser = argparse.ArgumentParser(
        prog="cli.py",
        description="Expert review of machine-written chest X-ray questions.",
        epilog="The workspace is the folder OVERREAD_HOME (default: workspace/ next to the code).",
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
        if getattr(parsed_arguments, "needs_workspace", True):  # some commands need no workspace
            from storage.schema import prepare_workspace  # noqa: PLC0415 - `--help` needs no database

            prepare_workspace()
        run: Callable[[argparse.Namespace], int] = parsed_arguments.run
        return run(parsed_arguments)
    except DomainError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. Unfinished changes were undone.", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the next program closed the pipe, as in `… | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # for example: disk full, no permission, a folder instead of a file
        print(describe_file_error(error), file=sys.stderr)
        return 1


if __name__ == "__main__":
    os.umask(PRIVATE_UMASK)
    sys.exit(main(sys.argv[1:]))
