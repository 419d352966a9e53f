"""Every command that only reads runs in every state of a workspace and prints something."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import cli
from storage import schema
from tests.states.workspaces import STATES, State, Subject, make_subject, to_parameters

pytestmark = pytest.mark.slow

#: Commands that only read, each with the command lines that are tested.
READING_COMMANDS = {
    "user list": ["user list"],
    "patient-data next": ["patient-data next {dataset}"],
    "duplicates find": ["duplicates find {dataset}"],
    "duplicates wordings": ["duplicates wordings {dataset}"],
    "duplicates calibration": ["duplicates calibration {dataset}"],
    "taxonomy names": ["taxonomy names {dataset}", "taxonomy names {dataset} --field region --unmapped"],
    "taxonomy controlled": ["taxonomy controlled"],
    "find": [
        "find {dataset} --controlled-category Heart --count",
        "find {dataset}",
        "find {dataset} opacity --most 2",
        "find {dataset} --batch {batch} --count",
        "find {dataset} --status 'drawn, not judged' --count",
    ],
    "comment list": ["comment list --all"],
    "history": ["history {dataset} {dataset}-1"],
    "apply reject": ["apply reject {dataset} opacity --reason wrong"],
    "apply queue": ["apply queue {dataset} opacity --reason wrong --into more"],
    "apply list": ["apply list", "apply list {dataset}"],
    "sample": ["sample {dataset} --batch more --seed 7 --n 2 --dry-run"],
    "batch list": ["batch list", "batch list {batch}"],
    "settings": ["settings {batch}"],
    "assign": [
        "assign {batch} --to rita --overlap 3 --dry-run",
        "assign {batch} --to ruth remo rita --second-share 0.5 --dry-run",
        "assign {batch} --to ruth remo rita --second-where-found --dry-run",
    ],
    "adjudicate rules": ["adjudicate rules {batch}"],
    "adjudicate list": ["adjudicate list {batch} --by rita"],
    "progress": ["progress {batch}", "progress {batch} --json"],
    "agreement": ["agreement {batch}", "agreement {batch} --json"],
    "hide": ["hide {batch} --list", "hide {batch} --repeats 0.5 --distance 1 --dry-run"],
    "attention": ["attention {batch}", "attention {batch} --json"],
    "estimate": [
        "estimate {dataset}",
        "estimate {dataset} --batch {batch} --by batch",
        "estimate {dataset} --by task",
        "estimate {dataset} --by domain",
        "estimate {dataset} --by prompt_version --csv",
    ],
    "statistics": ["statistics {dataset}", "statistics {dataset} --findings --out {out}/statistics"],
    "leaks": ["leaks {dataset} --pixels", "leaks {dataset} --questions"],
    "release create": [
        "release create {dataset} --name v2 --dry-run",
        "release create {dataset} --name v2 --batch {batch} --private 0.5 --split-seed 1 --dry-run",
        "release create {dataset} --name v2 --only-if-key-errors-under 99 --dry-run",
    ],
    "release verify": ["release verify {releases}/{dataset}/v1"],
    "release compare": [
        "release compare {releases}/{dataset}/v1 {releases}/{dataset}/v1",
        "release compare {releases}/{dataset}/v1 {releases}/{dataset}/v1 --out {out}/changes.jsonl",
    ],
    "release list": ["release list"],
    "errata list": ["errata list"],
    "study list": ["study list"],
    "study show": ["study show {study}"],
    "study models": ["study models {study}"],
    "study markers": ["study markers {study}"],
    "study extraction": ["study extraction {study}"],
    "study case": ["study case {study}"],
    "study marks": ["study marks {study}", "study marks {study} --blank"],
    "study protocol": ["study protocol {study}"],
    "study readers": ["study readers {study}"],
    "study report": ["study report {study} --out {out}/report"],
    "study export": ["study export {study} --out {out}/export"],
    "workspace": ["workspace"],
    "model list": ["model list"],
    "model data-use": ["model data-use", "model data-use {dataset}"],
    "prompt list": ["prompt list"],
    "prompt examples": ["prompt examples mcq"],
    "run list": ["run list"],
    "evaluate list": ["evaluate list"],
    "leaderboard list": ["leaderboard list"],
    "bench list": ["bench list"],
    "jury list": ["jury list", "jury list {dataset}"],
    "jury results": ["jury results {dataset}"],
    "jury votes": ["jury votes {dataset} {dataset}-1"],
    "region-check list": ["region-check list"],
    "practice list": ["practice list"],
    "job list": ["job list", "job list --active"],
    "job show": ["job show 1"],
    "audit verify": ["audit verify"],
    "audit export": ["audit export", "audit export --format jsonl --person cora"],
    "health": ["health"],
    "migrate": ["migrate"],
}
#: Commands that are not tested here; most of them change the workspace or create another one.
UNTESTED_COMMANDS = {
    "user add", "user roles", "user mail", "user reset-second-factor", "user disable", "user enable",
    "user sign-out", "user first-admin",
    "user password", "import questions", "import boxes", "import predictions", "import readings",
    "generate template", "generate gemex", "generate rexvqa", "check", "duplicates mark", "duplicates draw",
    "duplicates judge", "taxonomy map", "compliance", "taxonomy unmap",
    "patient-data texts", "patient-data rank", "patient-data decide", "apply undo", "apply back",
    "adjudicate settle", "errata report",
    "study create", "study close", "study reopen", "study assign", "study remove", "study exclude",
    "model add", "model test", "model remove", "prompt add", "prompt show", "prompt diff",
    "prompt add-example", "prompt add-corrected", "prompt remove-example", "prompt export-examples",
    "run create", "run show",
    "run write-batch", "run read-batch",
    "bench create", "bench show", "bench experts", "bench report", "bench scores",
    "region-check create", "region-check show", "region-check experts", "region-check report",
    "region-check marks",
    "run resume", "run pause", "run cancel", "run replay",
    "study mark",
    "evaluate plan", "evaluate run", "evaluate pause", "evaluate import", "evaluate show", "evaluate report",
    "jury plan", "jury run", "jury pause", "jury cancel", "jury show",
    "evaluate export", "evaluate scores", "evaluate judge", "evaluate extract",
    "leaderboard create", "leaderboard show", "leaderboard team", "leaderboard submit", "leaderboard status",
    "leaderboard select", "leaderboard receipt", "leaderboard text-only", "leaderboard readers",
    "leaderboard site", "leaderboard change-release",
    "practice create", "practice assign", "practice require", "practice exempt",
    "job cancel", "comment write", "restore", "demo", "audit checkpoint",
}  # fmt: skip
#: Commands that show nothing of the workspace: they read files, count, or export.
FILE_COMMANDS = {
    "backup", "counts", "deidentify", "extraction", "image render", "measure", "release training", "score",
    "study compare-roc", "study power",
}  # fmt: skip

TESTED_STATES = (
    *(State(name=name) for name in STATES),
    State(name="drawn", second_dataset_state="released"),
    State(name="partly judged", second_dataset_state="drawn"),
    State(name="partly read", second_dataset_state="study made"),
)


def list_commands() -> Iterator[str]:
    """Every command with its subcommand, from the parser of cli.py."""
    parser = argparse.ArgumentParser()
    subparsers = parser.add_subparsers()
    for module in import_command_modules():
        module.add_to(subparsers)
    yield from _list_subcommands(parser)


def import_command_modules() -> list[ModuleType]:
    return [import_module(f"commands.{cli.MODULE_NAMES.get(name, name)}") for name in cli.COMMANDS]


def _list_subcommands(parser: argparse.ArgumentParser, *path: str) -> Iterator[str]:
    subparser_actions = [
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    ]
    if not subparser_actions:
        yield " ".join(path)
    for subparser_action in subparser_actions:
        for name, subparser in subparser_action.choices.items():
            yield from _list_subcommands(subparser, *path, name)


def test_every_command_is_in_exactly_one_list():
    assert sorted([*READING_COMMANDS, *UNTESTED_COMMANDS, *FILE_COMMANDS]) == sorted(list_commands())


@pytest.fixture(autouse=True)
def prepare_workspace_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the tables once: each command compares them with the expected schema, which is slow."""
    import_command_modules()  # a module imported later would keep the cached function for the other tests
    monkeypatch.setattr(schema, "prepare_workspace", cache(schema.prepare_workspace))


def format_command_lines(subject: Subject, out: Path) -> list[str]:
    """All command lines for this dataset."""
    names = {
        "dataset": subject.dataset,
        "batch": subject.batch,
        "study": subject.study,
        "releases": subject.workspace.releases,
        "out": out,
    }
    return [template.format(**names) for templates in READING_COMMANDS.values() for template in templates]


def run_and_describe_fault(line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int | None, str]:
    """The command's exit code, and a description of what is wrong with its output; "" if nothing is."""
    capsys.readouterr()
    try:
        code = cli.main(shlex.split(line))
    except SystemExit as exit_error:
        return None, f"stopped with {exit_error.code}: {capsys.readouterr().err}"
    except Exception as error:  # noqa: BLE001 - the test looks for any exception
        return None, f"failed: {error!r}"
    output = capsys.readouterr()
    if code not in (0, 1):
        return code, f"ended with {code}: {output.err}"
    if code == 1 and not output.err.strip().endswith((".", "?", "--help")):
        return code, f"refused without a sentence: {output.err!r}"
    if not (output.out + output.err).strip():
        return code, "printed nothing"
    return code, ""


@pytest.mark.parametrize("state", to_parameters(TESTED_STATES))
def test_every_reading_command_runs_in_every_state(
    state: State, workspace_in: Callable[[State], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    home = workspace_in(state)
    subjects = [
        make_subject(home),
        *([make_subject(home, second=True)] if state.second_dataset_state else []),
    ]
    faults = {}
    for subject in subjects:
        for line in format_command_lines(subject, tmp_path / subject.dataset):
            _, problem = run_and_describe_fault(line, capsys)
            if problem:
                faults[line] = problem
    assert faults == {}


#: Both reviewers have judged everything, so no reviewer is left for a second opinion. The study is open, so
#: single cases are not shown; it has no yes/no questions, which the files for ROC programs need.
REFUSED_IN_LAST_STATE = {
    "leaks chest --pixels",  # there is only one dataset
    "leaks chest --questions",
    "assign first --to ruth remo rita --second-where-found --dry-run",
    "study case readers",
    "study export readers",
}


def test_only_the_expected_command_lines_are_refused_in_the_last_state(
    workspace_in: Callable[[State], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    subject = make_subject(workspace_in(State(name=STATES[-1])))
    refusals = {
        line.partition(" --out ")[0]: capsys.readouterr().err
        for line in format_command_lines(subject, tmp_path)
        if run_and_describe_fault(line, capsys)[0] != 0
    }
    assert set(refusals) == REFUSED_IN_LAST_STATE, refusals
