"""nginx with the configuration of docs/deploy: how many sign-in forms one address may submit."""

from __future__ import annotations

import httpx
import pytest

from domain.people import Role
from tests.e2e.app_processes import HOST, run_nginx
from tests.e2e.conftest import running_app

pytestmark = [pytest.mark.nginx, pytest.mark.full]


def test_a_flood_of_sign_in_forms_is_refused_and_pages_and_health_are_served(tmp_path):
    with running_app(tmp_path / "home", tmp_path / "log", OVERREAD_ALLOWED_HOSTS=HOST) as app:
        app.add_person("anna", Role.REVIEWER)
        port = int(app.url.rpartition(":")[2])
        with run_nginx([port, port], tmp_path / "nginx") as url:
            there = url.replace(HOST, "127.0.0.1")
            with httpx.Client(base_url=there, verify=False, headers={"Host": HOST}) as browser:  # noqa: S501 - made for this test
                answers = [browser.post("/sign-in", data={"name": "anna"}).status_code for _ in range(80)]
                assert answers[:40] == [403] * 40  # the app answered: the form's token is missing
                assert 429 in answers[40:]
                refused = next(
                    answer
                    for answer in (browser.post("/sign-in", data={"name": "anna"}) for _ in range(80))
                    if answer.status_code == 429
                )
                assert "Too many people" in refused.text
                assert all(browser.get("/sign-in").status_code == 200 for _ in range(60))
                assert browser.get("/health").text == "ok"
