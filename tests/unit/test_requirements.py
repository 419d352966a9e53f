"""Every imported distribution is pinned, and every pin is explained."""

import ast
import re
import sys
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "accounts", "browsing", "commands", "demo", "domain", "evaluation", "generation", "imaging", "intake",
    "jobs", "language_models", "leaderboard", "measures", "notifications", "pages", "parallel", "privacy",
    "quality", "reader_study", "records", "release", "review", "sampling", "storage", "terminology",
    "ui", "web",
)  # fmt: skip
# Needed at run time although no file of ours imports them.
PLUG_INS = {
    "authlib": "st.login imports it when a provider is configured",
    "httpx": "Authlib's client",
    "psycopg": "SQLAlchemy imports it for postgresql+psycopg://",
    "pyjpegls": "pydicom finds it to write the demo's phantoms as JPEG-LS",
    "python-multipart": "starlette imports it to read a form",
    "streamlit-drawable-canvas": "the judging form calls its browser part: web/drawing/canvas.py",
}


def read_pins(name: str) -> dict[str, str]:
    """Distribution (lower case, dashes) to version, from the lines that pin."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pin_matches = (re.fullmatch(r"([A-Za-z0-9_.-]+)(?:\[\w+\])?==(\S+)", line) for line in lines)
    return {match[1].lower().replace("_", "-"): match[2] for match in pin_matches if match}


@cache
def find_imported_distributions() -> frozenset[str]:
    """The distributions that the app's own files import."""
    files = [ROOT / "app.py", ROOT / "cli.py"]
    files += [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    modules = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                modules.add(node.module.split(".")[0])
    # _typeshed exists for the type checker only.
    modules -= set(sys.stdlib_module_names) | set(PACKAGES) | {"app", "cli", "_typeshed"}
    distributions_by_module = packages_distributions()
    return frozenset(
        distributions_by_module[module][0].lower().replace("_", "-")
        for module in modules
        if module in distributions_by_module
    ) | {f"{module} (not installed)" for module in modules if module not in distributions_by_module}


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-cluster.txt", "requirements-dev.txt"])
def test_every_line_pins_one_version(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    packages = [line for line in lines if line and not line.startswith(("#", "-"))]
    assert len(packages) == len(read_pins(name))


@pytest.mark.slow
def test_every_imported_distribution_is_pinned():
    optional = read_pins("requirements-cluster.txt")
    assert find_imported_distributions() - set(read_pins("requirements.txt")) - set(optional) == set()


@pytest.mark.slow
def test_every_pin_is_imported_or_a_plug_in():
    assert set(read_pins("requirements.txt")) - find_imported_distributions() - set(PLUG_INS) == set()


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-cluster.txt", "requirements-dev.txt"])
def test_the_constraints_have_the_same_versions(name):
    constraints = read_pins("constraints.txt")
    assert {package: constraints.get(package) for package in read_pins(name)} == read_pins(name)


def test_every_pin_is_explained_in_the_decision_record():
    page = (ROOT / "docs" / "decisions" / "009-dependencies.md").read_text(encoding="utf-8").lower()
    cells = {
        cell.strip()
        for line in page.splitlines()
        if line.startswith("| ")
        for cell in re.split(r"[|,]", line)
    }
    files = ("requirements.txt", "requirements-cluster.txt", "requirements-dev.txt")
    assert {package for name in files for package in read_pins(name)} - cells == set()
