"""Both entry points call services and nothing below; commands may also use a package's pure modules.

A pure module does not use storage (import-linter's contracts check that), and a command formats with the same
texts and rates as the pages.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STAGES = {
    "accounts", "browsing", "intake", "jobs", "privacy", "quality", "reader_study", "release", "review",
    "sampling",
}  # fmt: skip
# Modules that act on a workspace as a whole belong to no stage.
WHOLE = {"storage.backup", "storage.health"}
# The entry points open the transaction and locate the workspace; other storage is for services only.
DOORS = {"storage.unit_of_work", "storage.workspace", "storage.schema", *WHOLE}


def imported(text: str) -> Iterator[str]:
    """Every module that is imported anywhere in a file; ``from review import service`` is review.service."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = node.module in STAGES | {"storage"}
            yield from (f"{node.module}.{alias.name}" if whole else node.module for alias in node.names)


def past_the_doors(text: str) -> set[str]:
    """Imports of storage, or of the libraries under it, other than the permitted modules."""
    found = set()
    for module in imported(text):
        room = module.partition(".")[0]
        if room in {"sqlmodel", "sqlalchemy"} or (room == "storage" and module not in DOORS):
            found.add(module)
    return found


def past_the_service(text: str) -> set[str]:
    """Imports of modules behind the services."""
    found = past_the_doors(text)
    for module in imported(text):
        room, _, rest = module.partition(".")
        if room in STAGES and rest.split(".")[0] != "service":
            found.add(module)
    return found


COMMANDS = sorted(f"commands/{path.name}" for path in (ROOT / "commands").glob("*.py"))


@pytest.mark.parametrize("entry", ["app.py", "cli.py"])
def test_an_entry_imports_nothing_from_behind_the_services(entry):
    assert past_the_service((ROOT / entry).read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_imports_nothing_of_storage_but_its_doors(command):
    assert past_the_doors((ROOT / command).read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize("entry", ["cli.py", *COMMANDS])
def test_the_command_line_knows_no_screen(entry):
    rooms = {module.split(".")[0] for module in imported((ROOT / entry).read_text(encoding="utf-8"))}
    assert rooms & {"streamlit", "ui", "pages", "web"} == set()


@pytest.mark.parametrize(
    "text",
    [
        "from sqlmodel import Session",
        "import sqlalchemy.orm",
        "from storage import questions",
        "from storage.rows.people import PersonRow",
        "from review.queue import next_question",
        "from review import queue",
        "def later():\n    from sampling.draw import draw",
    ],
)
def test_a_planted_import_is_found(text):
    assert len(past_the_service(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "from storage.unit_of_work import unit_of_work",
        "from review import service",
        "from review.service import give_verdict",
        "from domain.errors import DomainError",
    ],
)
def test_the_way_through_the_service_is_open(text):
    assert past_the_service(text) == set()
