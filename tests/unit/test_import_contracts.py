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
def packages() -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return settings["tool"]["importlinter"]["root_packages"]


@pytest.fixture
def project(tmp_path, packages):
    """A project with Overread's contracts; its only import is one of storage by a service."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in packages:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "storage" / "intake").mkdir()
    for module in ("__init__.py", "questions.py"):
        (tmp_path / "storage" / "intake" / module).touch()
    (tmp_path / "review" / "service.py").write_text("import storage.intake.questions\n", encoding="utf-8")
    return tmp_path


def run_import_linter(project: Path) -> str:
    result = subprocess.run(
        [LINT_IMPORTS, "--no-cache"], cwd=project, capture_output=True, text=True, check=False, timeout=60
    )
    return result.stdout + result.stderr


def test_a_service_may_import_storage(project):
    assert "0 broken" in run_import_linter(project)


def test_forbidden_imports_are_found(project):
    forbidden_imports = {
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
    for path, line in forbidden_imports.items():
        (project / path).write_text(line + "\n", encoding="utf-8")
    report = run_import_linter(project)
    expected_links = {
        f"{path.removesuffix('.py').replace('/', '.')} -> {line.split()[1]}"
        for path, line in forbidden_imports.items()
    }
    assert {link for link in expected_links if link not in report} == set()


def test_no_package_of_ui_has_the_name_of_a_top_level_package(packages):
    """Streamlit puts ui/ first on the path, so such a package would hide the top-level one."""
    assert not {path.stem for path in (ROOT / "ui").iterdir()} & set(packages)
