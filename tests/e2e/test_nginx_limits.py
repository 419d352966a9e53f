"""nginx with the configuration of docs/deploy: how many sign-in forms one address may submit."""

from __future__ import annotations

import httpx
import pytest

from domain.people import Role
from tests.e2e.app_processes import HOST, run_nginx
from tests.e2e.conftest import running_app

pytestmark = [pytest.mark.nginx, pytest.mark.full]


def test_nginx_refuses_a_flood_of_sign_in_forms_but_serves_pages_and_health(tmp_path):
    with running_app(tmp_path / "home", tmp_path / "log", OVERREAD_ALLOWED_HOSTS=HOST) as app:
        app.add_person("anna", Role.REVIEWER)
        port = int(app.url.rpartition(":")[2])
        with run_nginx([port, port], tmp_path / "nginx") as url:
            address = url.replace(HOST, "127.0.0.1")
            with httpx.Client(base_url=address, verify=False, headers={"Host": HOST}) as browser:  # noqa: S501 - made for this test
                statuses = [browser.post("/sign-in", data={"name": "anna"}).status_code for _ in range(80)]
                assert statuses[:40] == [403] * 40  # the app answered: the form's token is missing
                assert 429 in statuses[40:]
                refusal = next(
                    response
                    for response in (browser.post("/sign-in", data={"name": "anna"}) for _ in range(80))
                    if response.status_code == 429
                )
                assert "Too many people" in refusal.text
                assert all(browser.get("/sign-in").status_code == 200 for _ in range(60))
                assert browser.get("/health").text == "ok"
