"""The import contracts of pyproject.toml detect planted violations, each with its own message."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


@pytest.fixture(scope="module")
def rooms() -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return settings["tool"]["importlinter"]["root_packages"]


@pytest.fixture
def house(tmp_path, rooms):
    """An empty project with the project's contracts."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for room in rooms:
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").touch()
    (tmp_path / "storage" / "intake").mkdir()
    for module in ("__init__.py", "questions.py"):
        (tmp_path / "storage" / "intake" / module).touch()
    (tmp_path / "review" / "service.py").write_text("import storage.intake.questions\n", encoding="utf-8")
    return tmp_path


def lint(house: Path) -> str:
    done = subprocess.run(
        [LINT_IMPORTS, "--no-cache"], cwd=house, capture_output=True, text=True, check=False, timeout=60
    )
    return done.stdout + done.stderr


def test_a_service_that_opens_storage_is_right(house):
    assert "0 broken" in lint(house)


def test_planted_imports_are_found(house):
    planted = {
        "sampling/service.py": "import review.service",
        "review/queue.py": "import storage.intake.questions",
        "pages/people.py": "import sqlalchemy",
        "pages/checks.py": "import storage.intake.questions",
        "commands/user.py": "import streamlit",
        "demo/workspace.py": "import ui",
        "web/gate.py": "import ui",
        "web/routes.py": "import streamlit",
        "imaging/reader.py": "import storage",
        "domain/boxes.py": "import numpy",
    }
    for path, line in planted.items():
        (house / path).write_text(line + "\n", encoding="utf-8")
    report = lint(house)
    wanted = {
        f"{path.removesuffix('.py').replace('/', '.')} -> {line.split()[1]}" for path, line in planted.items()
    }
    assert {link for link in wanted if link not in report} == set()
