"""The imports of a command and of the app at their start: only what they always need."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory

from cli import COMMANDS, MODULE_NAMES
from storage.schema import alembic_config, list_revisions, prepare_workspace
from ui.garbage_collection import freeze_modules

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]
#: These cost over half a second of processor time, for figures, charts, migrations and Parquet files.
HEAVY_MODULES = {
    "alembic", "altair", "joblib", "pandas", "pyarrow", "scipy.optimize", "scipy.special", "scipy.stats",
    "sklearn", "statsmodels",
}  # fmt: skip
PIXEL_MODULES = {"PIL", "numpy", "pydicom"}

COMMAND_PROGRAM = """
import sys
import cli
try:
    cli.main(sys.argv[1:])
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""
APP_PROGRAM = """
import sys
import app, ui.shell
from starlette.testclient import TestClient
with TestClient(app.app, base_url="http://localhost") as browser:
    assert browser.get("/health").status_code == 200
    assert "Code" in browser.get("/sign-in").text
print(*sys.modules, file=sys.stderr)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A workspace whose tables exist, so that no start runs a migration."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OVERREAD_HOME", str(home))
        prepare_workspace()
    return home


def list_loaded_modules(program, *arguments, home):
    result = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=ROOT, env=os.environ | {"OVERREAD_HOME": str(home)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(result.stderr.splitlines()[-1].split())


def test_help_imports_no_command(home):
    modules = list_loaded_modules(COMMAND_PROGRAM, "--help", home=home)
    assert {name for name in modules if name.startswith("commands.")} == set()
    assert modules & (HEAVY_MODULES | PIXEL_MODULES | {"sqlalchemy"}) == set()


def test_a_user_command_imports_no_numerical_library(home):
    assert (
        list_loaded_modules(COMMAND_PROGRAM, "user", "list", home=home) & (HEAVY_MODULES | PIXEL_MODULES)
        == set()
    )


def test_a_user_command_builds_no_tables_of_datasets_and_reviews(home):
    modules = list_loaded_modules(COMMAND_PROGRAM, "user", "list", home=home)
    assert {name for name in modules if name.startswith("storage.rows.")} == {
        f"storage.rows.{name}" for name in ("audit", "people", "second_factors", "table_row")
    }


def test_a_user_command_imports_no_vocabulary_of_verdicts(home):
    modules = list_loaded_modules(COMMAND_PROGRAM, "user", "list", home=home)
    assert modules & {"domain.checks", "domain.questions", "domain.verdicts"} == set()


def test_no_command_imports_heavy_modules_at_load(home):
    # measure needs pandas for its tables, and demo starts the app.
    program = "\n".join(
        f"import commands.{MODULE_NAMES.get(name, name)}"
        for name in COMMANDS
        if name not in {"measure", "demo"}
    )
    program += "\nimport sys; print(*sys.modules, file=sys.stderr)"
    assert list_loaded_modules(program, home=home) & HEAVY_MODULES == set()


def test_only_image_commands_import_pydicom(home):
    # The others use a decoder process.
    names = [MODULE_NAMES.get(name, name) for name in COMMANDS if name not in {"deidentify", "image", "demo"}]
    program = (
        f"import sys, {', '.join(f'commands.{name}' for name in names)}\nprint(*sys.modules, file=sys.stderr)"
    )
    assert list_loaded_modules(program, home=home) & {"PIL", "pydicom", "requests"} == set()


def test_an_sqlite_command_imports_neither_postgresql_nor_argon2(home):
    modules = list_loaded_modules(COMMAND_PROGRAM, "audit", "verify", home=home)
    assert modules & {"argon2", "sqlalchemy.dialects.postgresql"} == set()


def test_progress_of_a_missing_batch_imports_no_statistics(home):
    assert list_loaded_modules(COMMAND_PROGRAM, "progress", "none", home=home) & HEAVY_MODULES == set()


def test_the_first_page_imports_no_charts_or_statistics(home):
    assert list_loaded_modules(APP_PROGRAM, home=home) & HEAVY_MODULES == set()


def test_each_migration_file_is_named_by_its_revision():
    revisions = ScriptDirectory.from_config(alembic_config(None)).walk_revisions()
    assert list_revisions() == [script.revision for script in revisions][::-1]


def test_modules_imported_later_are_frozen(monkeypatch):
    freeze_modules()
    frozen_count = gc.get_freeze_count()
    for number in range(100):
        monkeypatch.setitem(sys.modules, f"later_{number}", [])
    freeze_modules()
    assert gc.get_freeze_count() > frozen_count
    gc.unfreeze()
