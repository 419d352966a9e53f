"""Every denied combination of role and route or page, by raw HTTP or websocket message, in the running app.

They come from the tables of roles, pages and routes. The forged widgets are those that an allowed person
received. No content of a forbidden page is sent, and nothing in the database changes.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from sqlalchemy import select, text, update
from websockets.exceptions import InvalidStatus

from accounts import service as accounts
from domain.access import ACTIONS_BY_ROLE, ROLES_BY_ACTION, Role
from storage.rows.all_tables import metadata
from storage.rows.people import PersonRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.declared_routes import CLOSED_ROUTES, OPEN_ROUTES, list_route_names
from tests.e2e import review_helpers, websocket_client
from tests.e2e.conftest import RunningApp
from tests.e2e.websocket_client import (
    Run,
    collect_run,
    make_filled_state,
    make_pressed_state,
    make_token,
    open_socket,
    rerun,
)
from tests.storage.worlds import SECRETS
from ui.navigation import PAGES
from web.routes import ROUTE_GROUPS

#: The name of the person in the small world who tries the requests of a role.
PEOPLE = {
    Role.ADMIN: "ada",
    Role.COORDINATOR: "cora",
    Role.REVIEWER: "ruth",
    Role.READER: "rea",
    Role.SUBMITTER: "sue",
}
EXISTING_PAGES = [page for page in PAGES if page.path.is_file()]  # as in the app's shell
DENIED_PAGES = [
    (role, page)
    for page in EXISTING_PAGES
    for role in Role
    if page.action and page.action not in ACTIONS_BY_ROLE[role]
]
DENIED_ROUTES = [
    (role, route)
    for group in ROUTE_GROUPS
    if group.action is not None
    for route in list_route_names(group.routes)
    for role in Role
    if role not in ROLES_BY_ACTION[group.action]
]
#: Tables that change when a page is merely viewed.
_TABLES_CHANGED_BY_VIEWING = {"sign_in", "audit_entry", "look", "alembic_version"}


@dataclass(frozen=True, kw_only=True)
class ReceivedPage:
    """What an allowed person's session received on a page."""

    page_hash: str
    run: Run


@pytest.fixture(scope="module", autouse=True)
def world(app):
    """Everybody is signed in; the token of each sign-in is made from the person's name."""
    review_world = review_helpers.create_review_world(app, questions=6)
    review_world.people["sue"] = app.add_person("sue", Role.SUBMITTER)
    for name in (*PEOPLE.values(), "remo"):
        add_sign_in(app, review_world.people[name], f"token-of-{name}")
    return review_world


def add_sign_in(app: RunningApp, person, token: str) -> None:
    with unit_of_work(app.engine) as db:
        accounts.start_sign_in(db, person=person, token=token, previous_token=None, now=datetime.now(UTC))


@pytest.fixture(scope="module")
def received_pages(app) -> dict[str, ReceivedPage]:
    """Each page as an allowed person sees it, by the page's name in the address."""
    received_by_page = {}
    for page in EXISTING_PAGES:
        role = next(role for role in Role if page.action is None or page.action in ACTIONS_BY_ROLE[role])
        with open_socket(app, f"token-of-{PEOPLE[role]}") as socket:
            home = rerun(socket)
            name = "" if page.path.stem == "home" else page.path.stem
            page_hash = home.pages[name]
            received_by_page[page.path.stem] = ReceivedPage(
                page_hash=page_hash, run=rerun(socket, page_hash=page_hash)
            )
    return received_by_page


def hash_tables(app: RunningApp) -> dict[str, str]:
    """A hash of each table's rows, without the tables that change when a page is only viewed."""
    hashes = {}
    with read_only_session(app.engine) as db:
        for table in metadata.sorted_tables:
            if table.name not in _TABLES_CHANGED_BY_VIEWING:
                rows = sorted(str(tuple(row)) for row in db.execute(select(table)))
                hashes[table.name] = hashlib.sha256("\n".join(rows).encode()).hexdigest()
    return hashes


def resolve_route(route: str) -> tuple[str, str]:
    """Method, and the path with parameters that exist."""
    method, path = route.split(" ", 1)
    values = {
        "{exam_number:int}": "1", "{radiograph_key:path}": "pa", "{anything:path}": "pa", "{name:path}": "x",
        "{name}": "x", "{digest}": "x",
    }  # fmt: skip
    for name, value in values.items():
        path = path.replace(name, value)
    while "{" in path:
        prefix, _, suffix = path.partition("{")
        path = prefix + "1" + suffix.partition("}")[2]
    return method, path


def send_request(
    app: RunningApp, route: str, cookie: str | None, number: int = 1, **headers: str
) -> httpx.Response:
    """Send the request as a page of the app sends it."""
    method, path = resolve_route(route)
    default_headers = {"Origin": app.url, "X-Overread": "1", "X-Overread-Person": str(number)}
    cookies = {"overread": cookie} if cookie else {}
    with httpx.Client(base_url=app.url, cookies=cookies, timeout=30) as client:
        body = b"{}" if method == "POST" else None
        return client.request(method, path, content=body, headers={**default_headers, **headers})


# ------------------------------------------------------------------------------------------------ raw HTTP
@pytest.mark.parametrize(("role", "route"), DENIED_ROUTES)
def test_route_is_refused_for_a_role_without_permission(app, world, role, route):
    person = world.people[PEOPLE[role]]
    response = send_request(app, route, f"token-of-{person.name}", person.id)
    assert response.status_code == 403
    assert response.json()["kind"] == "NotAllowed"


@pytest.mark.parametrize("route", CLOSED_ROUTES)
def test_closed_route_is_refused_without_a_sign_in(app, route):
    response = send_request(app, route, None)
    assert (response.status_code, response.json()["kind"]) == (401, "NotSignedIn")


def test_only_routes_for_sign_in_health_and_metrics_are_open(app):
    assert {route.split()[1] for route in OPEN_ROUTES} == {
        "/health", "/health/ready", "/metrics", "/first-admin", "/sign-in", "/sign-in/code",
        "/sign-in/provider", "/sign-in/provider/sign-out",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["remo", "rea", "ada"])
@pytest.mark.parametrize("path", ["/pixels/1/pa", "/pixels/1/pa/metadata", "/radiographs/1/pa?longest=300"])
def test_radiograph_is_refused_without_an_assigned_question(app, world, name, path):
    with unit_of_work(app.engine) as db:  # for this test, remo has no assignments
        db.execute(text("DELETE FROM assignment WHERE person_id = :one"), {"one": world.people["remo"].id})
    response = send_request(app, f"GET {path}", f"token-of-{name}")
    assert response.status_code == 403
    assert set(response.json()) == {"error", "kind"}


@pytest.mark.parametrize("name", list(PEOPLE.values()))
@pytest.mark.parametrize(
    "path",
    ["/_stcore/metrics", "/_stcore/agent/openapi.json", "/_stcore/agent/mcp", "/_stcore/script-health-check",
     "/media/0123456789abcdef.png", "/component/anything/index.html", "/app/static/x", "/auth/login",
     "/auth/logout", "/_stcore/allowed-message-origins"],
)  # fmt: skip
def test_other_streamlit_endpoints_are_closed(app, name, path):
    assert send_request(app, f"GET {path}", f"token-of-{name}").status_code == 404


@pytest.mark.parametrize("name", ["ada", "ruth", "rea"])
def test_people_who_are_not_coordinators_cannot_upload_files(app, name):
    with httpx.Client(base_url=app.url, cookies={"overread": f"token-of-{name}"}) as client:
        assert client.put("/_stcore/upload_file/x/y", content=b"{}").status_code == 404


# ----------------------------------------------------------------------------------------------- websocket
@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize(
    "ways", ["one way a page", pytest.param("every way to every page", marks=pytest.mark.soak)]
)
def test_no_websocket_message_opens_a_forbidden_page(app, received_pages, role, ways):
    """By the page's hash, by its name, and by its hash with the fragments and widgets of its own session.

    The short run tries one of these ways per denied page, in turn; the soak run tries all of them.
    """
    old_hashes = hash_tables(app)
    with open_socket(app, f"token-of-{PEOPLE[role]}") as socket:
        own_run = rerun(socket)
        denied_pages = [page for denied, page in DENIED_PAGES if denied is role]
        for number, page in enumerate(denied_pages, start=list(Role).index(role)):
            received = received_pages[page.path.stem]
            forbidden_texts = {value for value in received.run.texts - own_run.texts if len(value) > 3}
            widgets = sorted(received.run.widgets - own_run.widgets)  # the sign-out button is on every page
            assert forbidden_texts, page.title
            forged_widgets = [*map(make_pressed_state, widgets), *map(make_filled_state, widgets)]
            attempts = [
                {"page_hash": received.page_hash},
                {"page": page.path.stem},
                {"page_hash": received.page_hash, "page": page.path.stem, "widgets": forged_widgets},
                {"page_hash": own_run.pages[""], "widgets": forged_widgets},
            ]
            for fragment in received.run.fragments:  # this session lacks these fragments: no run answers
                websocket_client.request_run(
                    socket, page_hash=received.page_hash, fragment=fragment, widgets=forged_widgets
                )
            if ways == "one way a page":
                attempts = attempts[
                    number % 3 :: 3
                ]  # by hash and then from home; by name; by both with widgets
            for attempt in attempts:
                run = rerun(socket, **attempt)
                assert run.texts & forbidden_texts == set(), (page.title, sorted(attempt))
                assert run.widgets.isdisjoint(widgets)
                assert not any(word.encode() in frame for frame in run.frames for word in SECRETS.values())
                if set(attempt) == {"page"}:
                    assert run.not_found
    assert hash_tables(app) == old_hashes


def test_allowed_people_receive_texts_on_every_page_and_some_widgets(received_pages):
    assert all(len(received.run.texts) > 5 for received in received_pages.values())
    assert sum(len(received.run.widgets) for received in received_pages.values()) > 10


# --------------------------------------------------- the cookie of a person whose account is disabled or gone
def test_cookie_of_a_disabled_person_is_refused(app, world):
    """The account is disabled by its flag alone; the row of the sign-in is unchanged."""
    add_sign_in(app, world.people["remo"], "token-of-disabled")
    with unit_of_work(app.engine) as db:
        db.execute(update(PersonRow).where(PersonRow.name == "remo").values(disabled_at=datetime.now(UTC)))
    assert {send_request(app, route, "token-of-disabled").status_code for route in CLOSED_ROUTES} == {401}
    with open_socket(app, "token-of-disabled") as socket:
        run = collect_run(socket)
    assert run.closed
    assert [message.auth_redirect.url for message in run.messages] == ["/sign-in"]


@pytest.mark.parametrize("path", ["/pixels/1/pa", "/pixels/1/pa/metadata", "/radiographs/1/pa?longest=300"])
def test_no_radiograph_is_served_after_signing_out(app, world, path):
    token = f"to-end-{make_token()}"
    add_sign_in(app, world.people["ruth"], token)
    first_response = send_request(app, f"GET {path}", token)
    assert first_response.status_code == 200
    assert len(first_response.content) > 100
    with unit_of_work(app.engine) as db:
        accounts.sign_out(db, token=token, now=datetime.now(UTC))
    conditions: list[dict[str, Any]] = [
        {}, {"If-None-Match": first_response.headers["etag"]}, {"Range": "bytes=0-99"},
    ]  # fmt: skip
    for headers in conditions:
        later_response = send_request(app, f"GET {path}", token, **headers)
        assert later_response.status_code == 401
        assert later_response.json() == {"error": "Sign in first.", "kind": "NotSignedIn"}
        assert "etag" not in later_response.headers


def test_open_websocket_sends_nothing_after_signing_out(app, world):
    add_sign_in(app, world.people["ruth"], "token-to-end-2")
    with open_socket(app, "token-to-end-2") as socket:
        pages = rerun(socket).pages
        with unit_of_work(app.engine) as db:
            accounts.sign_out(db, token="token-to-end-2", now=datetime.now(UTC))
        run = rerun(socket, page_hash=pages["review"])
    assert run.closed
    assert run.texts == set()


# --------------------------------------------------------------- requests from other sites, and forged values
def test_websocket_from_another_site_is_refused(app):
    """Another site's page can therefore press no button, such as the one that signs out."""
    with pytest.raises(InvalidStatus) as refused:
        open_socket(app, "token-of-ruth", origin="https://elsewhere.example")
    assert refused.value.response.status_code == 403


def test_session_cannot_be_resumed_with_another_sign_in(app, world):
    add_sign_in(app, world.people["ruth"], "token-of-ruth-elsewhere")
    with open_socket(app, "token-of-ruth") as socket:
        her_session = get_session_id(rerun(socket))
        with open_socket(app, "token-of-ruth-elsewhere", resume=her_session) as other_socket:
            assert get_session_id(rerun(other_socket)) != her_session


@pytest.mark.parametrize("forged", ["x", "0" * 36, "00000000-0000-4000-8000-000000000000"])
def test_forged_session_id_is_not_accepted(app, forged):
    with suppress(InvalidStatus), open_socket(app, "token-of-ruth", resume=forged) as socket:
        assert get_session_id(rerun(socket)) != forged


def get_session_id(run: Run) -> str:
    return next(
        message.new_session.initialize.session_id
        for message in run.messages
        if message.WhichOneof("type") == "new_session"
    )


def test_oversized_message_closes_the_connection(app):
    with open_socket(app, "token-of-ruth") as socket:
        rerun(socket)
        run = rerun(socket, query="x" * (5 << 20))
    assert run.closed
