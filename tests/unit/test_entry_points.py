"""Both entry points call services and nothing below; commands may also use a package's pure modules.

Pure modules do not use storage (import-linter checks this). Commands use them to format output with the texts
and rates of the pages.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STAGE_PACKAGES = {
    "accounts", "browsing", "intake", "jobs", "language_models", "leaderboard", "notifications", "privacy",
    "quality",
    "reader_study",
    "release", "review", "sampling",
}  # fmt: skip
# Modules that act on a workspace as a whole belong to no stage.
WHOLE_DATABASE_MODULES = {"storage.backup", "storage.health"}
# The entry points open the transaction and locate the workspace; other storage is for services only.
ALLOWED_STORAGE_MODULES = {
    "storage.unit_of_work",
    "storage.workspace",
    "storage.schema",
    *WHOLE_DATABASE_MODULES,
}


def list_imports(text: str) -> Iterator[str]:
    """Every module that is imported anywhere in a file; ``from review import service`` is review.service."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            is_package = node.module in STAGE_PACKAGES | {"storage"}
            yield from (f"{node.module}.{alias.name}" if is_package else node.module for alias in node.names)


def find_forbidden_imports(text: str) -> set[str]:
    """Imports of storage, or of the libraries under it, other than the permitted modules."""
    forbidden = set()
    for module in list_imports(text):
        package = module.partition(".")[0]
        if package in {"sqlmodel", "sqlalchemy"} or (
            package == "storage" and module not in ALLOWED_STORAGE_MODULES
        ):
            forbidden.add(module)
    return forbidden


def find_imports_past_services(text: str) -> set[str]:
    """Imports of modules behind the services."""
    forbidden = find_forbidden_imports(text)
    for module in list_imports(text):
        package, _, submodule = module.partition(".")
        if package in STAGE_PACKAGES and submodule.split(".")[0] != "service":
            forbidden.add(module)
    return forbidden


COMMANDS = sorted(f"commands/{path.name}" for path in (ROOT / "commands").glob("*.py"))


@pytest.mark.parametrize("entry", ["app.py", "cli.py"])
def test_an_entry_point_imports_only_services(entry):
    assert find_imports_past_services((ROOT / entry).read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_imports_only_allowed_storage_modules(command):
    assert find_forbidden_imports((ROOT / command).read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize("entry", ["cli.py", *COMMANDS])
def test_the_command_line_imports_no_user_interface(entry):
    packages = {module.split(".")[0] for module in list_imports((ROOT / entry).read_text(encoding="utf-8"))}
    assert packages & {"streamlit", "ui", "pages", "web"} == set()


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
def test_a_forbidden_import_is_found(text):
    assert len(find_imports_past_services(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "from storage.unit_of_work import unit_of_work",
        "from review import service",
        "from review.service import give_verdict",
        "from domain.errors import DomainError",
    ],
)
def test_an_import_of_a_service_is_allowed(text):
    assert find_imports_past_services(text) == set()
