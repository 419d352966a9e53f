"""The real app: host names, and the permissions of the files that it and its commands create."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import httpx
import pytest

from domain.people import Role
from tests.e2e.conftest import PASSWORD, ROOT, running_app
from tests.e2e.test_gate import load_form_token

pytestmark = pytest.mark.full


def find_exposed_paths(folder):
    """Files and folders that group or others may use, with their mode."""
    paths = [folder, *folder.rglob("*")]
    return {
        str(path.relative_to(folder)): oct(path.stat().st_mode)
        for path in paths
        if path.stat().st_mode & 0o077
    }


@pytest.fixture
def usual_umask():
    previous = os.umask(0o022)
    yield
    os.umask(previous)


@pytest.mark.usefixtures("usual_umask")
def test_only_the_user_can_access_files_that_app_and_commands_create(tmp_path):
    home = tmp_path / "new" / "workspace"
    with running_app(home, tmp_path / "log") as app:
        app.command("user", "add", "anna", "--role", "admin", stdin=f"{PASSWORD}\n")
        assert httpx.get(f"{app.url}/health").text == "ok"
        assert (home / "overread.sqlite-wal").exists()
        assert find_exposed_paths(home) == {}
    subprocess.run(
        [sys.executable, "cli.py", "user", "list"],
        cwd=ROOT,
        env=app.environment,
        check=True,
        capture_output=True,
    )
    assert find_exposed_paths(home) == {}


@pytest.mark.usefixtures("usual_umask")
def test_next_command_closes_an_older_workspace_to_other_users(tmp_path):
    home = tmp_path / "workspace"
    environment = {**os.environ, "OVERREAD_HOME": str(home), "OVERREAD_DATABASE_URL": ""}
    listing = [sys.executable, "cli.py", "user", "list"]
    subprocess.run(listing, cwd=ROOT, env=environment, check=True, capture_output=True)
    home.chmod(0o755)
    (home / "overread.sqlite").chmod(0o644)
    subprocess.run(listing, cwd=ROOT, env=environment, check=True, capture_output=True)
    assert find_exposed_paths(home) == {}


def test_a_shared_folder_that_is_no_workspace_keeps_its_mode(tmp_path):
    shared = tmp_path / "srv"
    shared.mkdir()
    shared.chmod(0o755)
    environment = {
        **os.environ,
        "OVERREAD_HOME": str(shared),
        "OVERREAD_DATABASE_URL": f"sqlite:///{tmp_path}/elsewhere",
    }
    subprocess.run(
        [sys.executable, "cli.py", "user", "list"], cwd=ROOT, env=environment, check=True, capture_output=True
    )
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755


def test_sign_in_under_a_foreign_host_name_is_refused(app):
    app.add_person("demi", Role.COORDINATOR, demo=True)
    with httpx.Client(base_url=app.url) as browser:
        token = load_form_token(browser)
        fields = {"form_token": token, "name": "demi", "password": "demo-password"}
        response = browser.post("/sign-in", data=fields, headers={"Host": "attacker.example:8501"})
        assert response.status_code == 400
        assert "overread" not in browser.cookies
        assert browser.post("/sign-in", data=fields).status_code == 303


def test_app_with_an_invalid_setting_does_not_start_and_names_the_setting(tmp_path):
    environment = {
        **os.environ,
        "OVERREAD_HOME": str(tmp_path / "home"),
        "OVERREAD_ALLOWED_HOSTS": "https://x.example",
    }
    result = subprocess.run(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", "0"],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert result.returncode == 1
    assert "Overread could not start. OVERREAD_ALLOWED_HOSTS" in result.stderr
