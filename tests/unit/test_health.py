"""Liveness and readiness: what strangers, admins and the command line are shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from storage import health
from web.health import HEALTH_CACHE

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def new_look(monkeypatch):
    # On a busy machine a check takes longer than the deadline, which test_image_store_hangs.py tests.
    monkeypatch.setattr("web.health._TIMEOUT", 60.0)
    HEALTH_CACHE.clear()
    yield
    HEALTH_CACHE.clear()


def test_a_process_that_answers_is_alive(browser_of):
    assert browser_of(None).get("/health").text == "ok"


def test_a_workspace_that_is_fit_is_ready(browser_of):
    answer = browser_of(None).get("/health/ready")
    assert (answer.status_code, answer.text) == (200, "ready")


@pytest.fixture
def full_disk(monkeypatch):
    monkeypatch.setattr(health, "MIN_FREE_BYTES", 1 << 60)


@pytest.mark.parametrize("name", [None, "ruth", "cora"])
def test_a_stranger_learns_that_it_is_not_ready_and_not_why(browser_of, full_disk, name):
    answer = browser_of(name).get("/health/ready")
    assert (answer.status_code, answer.text) == (503, "not ready")


def test_an_admin_learns_why(browser_of, full_disk):
    answer = browser_of("ada").get("/health/ready")
    assert answer.status_code == 503
    found = answer.json()
    assert [check["name"] for check in found["checks"] if not check["good"]] == ["disk"]
    assert "GiB free" in next(check["said"] for check in found["checks"] if check["name"] == "disk")
    assert found["version"]


def test_a_process_whose_workspace_is_unfit_is_alive_all_the_same(browser_of, full_disk):
    assert browser_of(None).get("/health").status_code == 200


def test_tables_of_another_version_are_not_fit(workspace_engine):
    from storage.schema import downgrade
    from storage.workspace import current_workspace

    downgrade(workspace_engine, "0001")
    bad = [check for check in health.run_health_checks(current_workspace()) if not check.passed]
    assert [check.name for check in bad] == ["tables"]


def test_the_command_says_each_thing_and_ends_with_1_where_one_is_not_fit(workspace_engine):
    from storage.schema import downgrade

    command = [sys.executable, "cli.py", "health"]
    good = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (good.returncode, good.stdout.count("good")) == (0, 5)
    downgrade(workspace_engine, "0001")
    bad = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (bad.returncode, bad.stdout.count("BAD")) == (1, 1)
