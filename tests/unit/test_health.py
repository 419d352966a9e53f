"""Liveness and readiness, for anonymous requests, signed-in people, admins and the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from storage import health
from web.health import HEALTH_CACHE

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def fresh_health_cache(monkeypatch):
    # On a busy machine a check takes longer than the deadline, which test_image_store_hangs.py tests.
    monkeypatch.setattr("web.health._TIMEOUT", 60.0)
    HEALTH_CACHE.clear()
    yield
    HEALTH_CACHE.clear()


def test_a_process_that_answers_is_alive(browser_of):
    assert browser_of(None).get("/health").text == "ok"


def test_a_healthy_workspace_is_ready(browser_of):
    response = browser_of(None).get("/health/ready")
    assert (response.status_code, response.text) == (200, "ready")


@pytest.fixture
def full_disk(monkeypatch):
    monkeypatch.setattr(health, "MIN_FREE_BYTES", 1 << 60)


@pytest.mark.parametrize("name", [None, "ruth", "cora"])
def test_only_admins_see_why_the_workspace_is_not_ready(browser_of, full_disk, name):
    response = browser_of(name).get("/health/ready")
    assert (response.status_code, response.text) == (503, "not ready")


def test_an_admin_sees_the_failed_check(browser_of, full_disk):
    response = browser_of("ada").get("/health/ready")
    assert response.status_code == 503
    body = response.json()
    assert [check["name"] for check in body["checks"] if not check["passed"]] == ["disk"]
    assert "GiB free" in next(check["detail"] for check in body["checks"] if check["name"] == "disk")
    assert body["version"]


def test_a_check_keeps_the_keys_of_earlier_versions(browser_of, full_disk):
    checks = browser_of("ada").get("/health/ready").json()["checks"]
    assert [(check["good"], check["said"]) for check in checks] == [
        (check["passed"], check["detail"]) for check in checks
    ]


def test_a_process_with_an_unhealthy_workspace_is_alive(browser_of, full_disk):
    assert browser_of(None).get("/health").status_code == 200


def test_tables_of_another_version_fail_the_check(workspace_engine):
    from storage.schema import downgrade
    from storage.workspace import current_workspace

    downgrade(workspace_engine, "0001")
    failed = [check for check in health.run_health_checks(current_workspace()) if not check.passed]
    assert [check.name for check in failed] == ["tables"]


@pytest.mark.slow
def test_the_command_lists_all_checks_and_exits_with_1_on_failure(workspace_engine):
    from storage.schema import downgrade

    command = [sys.executable, "cli.py", "health"]
    healthy = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (healthy.returncode, healthy.stdout.count("good")) == (0, 5)
    downgrade(workspace_engine, "0001")
    failed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stdout.count("BAD")) == (1, 1)
