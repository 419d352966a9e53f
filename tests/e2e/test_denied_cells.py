"""Every denied cell of role x page x action, by raw HTTP and by websocket message, in the running app.

The cells come from the tables of roles, pages and routes. The forged widgets are those that an allowed person
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
from storage.rows import PersonRow, metadata
from storage.unit_of_work import read_only_session, unit_of_work
from tests.declared_routes import CLOSED_ROUTES, OPEN_ROUTES, names
from tests.e2e import judging, wire
from tests.e2e.conftest import RunningApp
from tests.e2e.wire import Run, filled, fresh_token, open_socket, pressed, rerun, take
from tests.storage.worlds import SECRETS
from ui.navigation import PAGES
from web.routes import ROUTE_GROUPS

#: One person per role who is tried, by their name in the small world.
PEOPLE = {Role.ADMIN: "ada", Role.COORDINATOR: "cora", Role.REVIEWER: "ruth", Role.READER: "rea"}
ON_DISK = [page for page in PAGES if page.path.is_file()]  # as in the app's shell
PAGE_CELLS = [
    (role, page)
    for page in ON_DISK
    for role in Role
    if page.action and page.action not in ACTIONS_BY_ROLE[role]
]
ROUTE_CELLS = [
    (role, route)
    for group in ROUTE_GROUPS
    if group.action is not None
    for route in names(group.routes)
    for role in Role
    if role not in ROLES_BY_ACTION[group.action]
]
#: Tables that change when a page is merely viewed.
_MOVES_BY_ITSELF = {"sign_in", "audit_entry", "look", "alembic_version"}


@dataclass(frozen=True, kw_only=True)
class Harvest:
    """What an allowed person's session received on a page."""

    page_hash: str
    run: Run


@pytest.fixture(scope="module", autouse=True)
def world(app):
    """Everybody is signed in; the token of each sign-in is made from the person's name."""
    made = judging.world_to_judge(app, questions=6)
    for name in (*PEOPLE.values(), "remo"):
        begin(app, made.people[name], f"token-of-{name}")
    return made


def begin(app: RunningApp, person, token: str) -> None:
    with unit_of_work(app.engine) as db:
        accounts.start_sign_in(db, person=person, token=token, previous_token=None, now=datetime.now(UTC))


@pytest.fixture(scope="module")
def harvests(app) -> dict[str, Harvest]:
    """Each page as an allowed person sees it, by the page's name in the address."""
    found = {}
    for page in ON_DISK:
        role = next(role for role in Role if page.action is None or page.action in ACTIONS_BY_ROLE[role])
        with open_socket(app, f"token-of-{PEOPLE[role]}") as socket:
            home = rerun(socket)
            name = "" if page.path.stem == "home" else page.path.stem
            page_hash = home.pages[name]
            found[page.path.stem] = Harvest(page_hash=page_hash, run=rerun(socket, page_hash=page_hash))
    return found


def state_of(app: RunningApp) -> dict[str, str]:
    """A hash of each table's rows, without the tables that change when a page is only viewed."""
    found = {}
    with read_only_session(app.engine) as db:
        for table in metadata.sorted_tables:
            if table.name not in _MOVES_BY_ITSELF:
                rows = sorted(str(tuple(row)) for row in db.execute(select(table)))
                found[table.name] = hashlib.sha256("\n".join(rows).encode()).hexdigest()
    return found


def address(route: str) -> tuple[str, str]:
    """Method, and the path with parameters that exist."""
    method, path = route.split(" ", 1)
    values = {
        "{exam_number:int}": "1", "{radiograph_key:path}": "pa", "{anything:path}": "pa", "{name:path}": "x",
        "{name}": "x", "{digest}": "x",
    }  # fmt: skip
    for name, value in values.items():
        path = path.replace(name, value)
    while "{" in path:
        before, _, rest = path.partition("{")
        path = before + "1" + rest.partition("}")[2]
    return method, path


def ask(app: RunningApp, route: str, cookie: str | None, number: int = 1, **headers: str) -> httpx.Response:
    """Send the request as a page of the app sends it."""
    method, path = address(route)
    own = {"Origin": app.url, "X-Overread": "1", "X-Overread-Person": str(number)}
    cookies = {"overread": cookie} if cookie else {}
    with httpx.Client(base_url=app.url, cookies=cookies, timeout=30) as client:
        body = b"{}" if method == "POST" else None
        return client.request(method, path, content=body, headers={**own, **headers})


# ------------------------------------------------------------------------------------------------ raw HTTP
@pytest.mark.parametrize(("role", "route"), ROUTE_CELLS)
def test_a_route_that_is_not_for_the_role_is_refused_before_it_reads_anything(app, world, role, route):
    person = world.people[PEOPLE[role]]
    answer = ask(app, route, f"token-of-{person.name}", person.id)
    assert answer.status_code == 403
    assert answer.json()["kind"] == "NotAllowed"


@pytest.mark.parametrize("route", CLOSED_ROUTES)
def test_without_a_sign_in_no_route_answers(app, route):
    answer = ask(app, route, None)
    assert (answer.status_code, answer.json()["kind"]) == (401, "NotSignedIn")


def test_no_route_is_open_that_is_not_a_way_in(app):
    assert {route.split()[1] for route in OPEN_ROUTES} == {
        "/health", "/health/ready", "/first-admin", "/sign-in", "/sign-in/provider",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["remo", "rea", "ada"])
@pytest.mark.parametrize("path", ["/pixels/1/pa", "/pixels/1/pa/facts", "/radiographs/1/pa?longest=300"])
def test_a_radiograph_is_for_those_who_have_a_question_on_it(app, world, name, path):
    with unit_of_work(app.engine) as db:  # remo's questions are taken from him for this test
        db.execute(text("DELETE FROM assignment WHERE person_id = :one"), {"one": world.people["remo"].id})
    answer = ask(app, f"GET {path}", f"token-of-{name}")
    assert answer.status_code == 403
    assert set(answer.json()) == {"error", "kind"}


@pytest.mark.parametrize("name", list(PEOPLE.values()))
@pytest.mark.parametrize(
    "path",
    ["/_stcore/metrics", "/_stcore/agent/openapi.json", "/_stcore/agent/mcp", "/_stcore/script-health-check",
     "/media/0123456789abcdef.png", "/component/anything/index.html", "/app/static/x", "/auth/login",
     "/auth/logout", "/_stcore/allowed-message-origins"],
)  # fmt: skip
def test_what_streamlit_has_besides_its_page_is_closed_for_everybody(app, name, path):
    assert ask(app, f"GET {path}", f"token-of-{name}").status_code == 404


@pytest.mark.parametrize("name", ["ada", "ruth", "rea"])
def test_only_who_imports_may_send_files(app, name):
    with httpx.Client(base_url=app.url, cookies={"overread": f"token-of-{name}"}) as client:
        assert client.put("/_stcore/upload_file/x/y", content=b"{}").status_code == 404


# ----------------------------------------------------------------------------------------------- websocket
@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize(
    "ways", ["one way a page", pytest.param("every way to every page", marks=pytest.mark.soak)]
)
def test_no_message_to_the_websocket_opens_a_page_that_is_not_for_the_role(app, harvests, role, ways):
    """By the page's hash, by its name, and by its hash with the fragments and widgets of its own session.

    The short form tries one of these ways per denied page, in turn; the long form tries all of them.
    """
    before = state_of(app)
    with open_socket(app, f"token-of-{PEOPLE[role]}") as socket:
        own = rerun(socket)
        mine = [page for denied, page in PAGE_CELLS if denied is role]
        for number, page in enumerate(mine, start=list(Role).index(role)):
            harvest = harvests[page.path.stem]
            theirs = {each for each in harvest.run.texts - own.texts if len(each) > 3}
            widgets = sorted(harvest.run.widgets - own.widgets)  # the sign-out button is on every page
            assert theirs, page.title
            forged = [*map(pressed, widgets), *map(filled, widgets)]
            tries = [
                {"page_hash": harvest.page_hash},
                {"page": page.path.stem},
                {"page_hash": harvest.page_hash, "page": page.path.stem, "widgets": forged},
                {"page_hash": own.pages[""], "widgets": forged},
            ]
            for fragment in harvest.run.fragments:  # this session lacks these fragments: no run answers
                wire.ask(socket, page_hash=harvest.page_hash, fragment=fragment, widgets=forged)
            if ways == "one way a page":
                tries = tries[number % 3 :: 3]  # by hash and then from home; by name; by both with widgets
            for asked in tries:
                run = rerun(socket, **asked)
                assert run.texts & theirs == set(), (page.title, sorted(asked))
                assert run.widgets.isdisjoint(widgets)
                assert not any(word.encode() in frame for frame in run.frames for word in SECRETS.values())
                if set(asked) == {"page"}:
                    assert run.not_found
    assert state_of(app) == before


def test_the_harvest_of_an_allowed_person_is_not_empty(harvests):
    assert all(len(each.run.texts) > 5 for each in harvests.values())
    assert sum(len(each.run.widgets) for each in harvests.values()) > 10


# --------------------------------------------------- the cookie of a person whose account is disabled or gone
def test_with_the_cookie_of_a_disabled_person_nothing_answers(app, world):
    """The account is disabled by its flag alone; the row of the sign-in is unchanged."""
    begin(app, world.people["remo"], "token-of-disabled")
    with unit_of_work(app.engine) as db:
        db.execute(update(PersonRow).where(PersonRow.name == "remo").values(disabled_at=datetime.now(UTC)))
    assert {ask(app, route, "token-of-disabled").status_code for route in CLOSED_ROUTES} == {401}
    with open_socket(app, "token-of-disabled") as socket:
        run = take(socket)
    assert run.closed
    assert [each.auth_redirect.url for each in run.messages] == ["/sign-in"]


@pytest.mark.parametrize("path", ["/pixels/1/pa", "/pixels/1/pa/facts", "/radiographs/1/pa?longest=300"])
def test_after_signing_out_a_radiograph_gives_0_bytes(app, world, path):
    token = f"to-end-{fresh_token()}"
    begin(app, world.people["ruth"], token)
    before = ask(app, f"GET {path}", token)
    assert before.status_code == 200
    assert len(before.content) > 100
    with unit_of_work(app.engine) as db:
        accounts.sign_out(db, token=token, now=datetime.now(UTC))
    conditions: list[dict[str, Any]] = [
        {}, {"If-None-Match": before.headers["etag"]}, {"Range": "bytes=0-99"},
    ]  # fmt: skip
    for headers in conditions:
        after = ask(app, f"GET {path}", token, **headers)
        assert after.status_code == 401
        assert after.json() == {"error": "Sign in first.", "kind": "NotSignedIn"}
        assert "etag" not in after.headers


def test_a_socket_that_was_open_gives_nothing_after_signing_out(app, world):
    begin(app, world.people["ruth"], "token-to-end-2")
    with open_socket(app, "token-to-end-2") as socket:
        pages = rerun(socket).pages
        with unit_of_work(app.engine) as db:
            accounts.sign_out(db, token="token-to-end-2", now=datetime.now(UTC))
        run = rerun(socket, page_hash=pages["review"])
    assert run.closed
    assert run.texts == set()


# --------------------------------------------------------------- requests from other sites, and forged values
def test_a_page_of_another_site_gets_no_websocket_even_with_the_cookie(app):
    """Another site's page can therefore press no button, such as the one that signs out."""
    with pytest.raises(InvalidStatus) as refused:
        open_socket(app, "token-of-ruth", origin="https://elsewhere.example")
    assert refused.value.response.status_code == 403


def test_another_sign_in_of_the_same_person_does_not_get_the_session_either(app, world):
    begin(app, world.people["ruth"], "token-of-ruth-elsewhere")
    with open_socket(app, "token-of-ruth") as socket:
        hers = session_of(rerun(socket))
        with open_socket(app, "token-of-ruth-elsewhere", resume=hers) as other:
            assert session_of(rerun(other)) != hers


@pytest.mark.parametrize("forged", ["x", "0" * 36, "00000000-0000-4000-8000-000000000000"])
def test_a_session_number_that_was_made_up_opens_no_session_of_that_number(app, forged):
    with suppress(InvalidStatus), open_socket(app, "token-of-ruth", resume=forged) as socket:
        assert session_of(rerun(socket)) != forged


def session_of(run: Run) -> str:
    return next(
        each.new_session.initialize.session_id
        for each in run.messages
        if each.WhichOneof("type") == "new_session"
    )


def test_a_message_of_megabytes_closes_the_connection(app):
    with open_socket(app, "token-of-ruth") as socket:
        rerun(socket)
        run = rerun(socket, query="x" * (5 << 20))
    assert run.closed
