"""The gate, by raw HTTP and websocket: without a valid sign-in nothing of the app is sent."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from socket import create_connection
from time import sleep
from urllib.parse import urlsplit

import httpx
import pytest
from sqlalchemy import delete, update
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from accounts import service as accounts
from domain.people import Role
from storage.rows import WrongPasswordRow
from storage.unit_of_work import unit_of_work
from tests.e2e.conftest import PASSWORD
from tests.e2e.wire import open_socket

_FORM_TOKEN = re.compile(r'name="form_token" value="([^"]+)"')


@pytest.fixture(scope="module", autouse=True)
def people(app):
    for name in ("rosa", "otto", "dora"):
        app.add_person(name, Role.REVIEWER)
    app.add_person("ada", Role.ADMIN)


@pytest.fixture
def client(app):
    with httpx.Client(base_url=app.url) as there:
        yield there


def form_token(client: httpx.Client) -> str:
    found = _FORM_TOKEN.search(client.get("/sign-in").text)
    assert found
    return found[1]


def post_sign_in(
    client: httpx.Client, name: str, password: str = PASSWORD, token: str | None = None
) -> httpx.Response:
    fields = {"form_token": token or form_token(client), "name": name, "password": password}
    return client.post("/sign-in", data=fields)


def signed_in(client: httpx.Client, name: str) -> str:
    assert post_sign_in(client, name).status_code == 303
    return client.cookies["overread"]


def rerun() -> bytes:
    return BackMsg(rerun_script=ClientState(query_string="")).SerializeToString()


def next_message(socket: ClientConnection) -> ForwardMsg:
    received = socket.recv(timeout=20)
    assert isinstance(received, bytes)
    return ForwardMsg.FromString(received)


def last_message(socket: ClientConnection) -> ForwardMsg:
    """The last message before the server closed the connection."""
    last = next_message(socket)
    while True:
        try:
            last = next_message(socket)
        except ConnectionClosed:
            return last


def streamlit_session(socket: ClientConnection) -> str:
    """The number of the Streamlit session of a connection."""
    socket.send(rerun())
    while True:
        message = next_message(socket)
        if message.WhichOneof("type") == "new_session":
            return message.new_session.initialize.session_id


# ---------------------------------------------------------------------------------- with a forged sign-in
def test_a_made_up_cookie_is_as_good_as_none(client):
    client.cookies["overread"] = "made-up"
    assert client.get("/").status_code == 401


def test_a_made_up_cookie_on_the_websocket_leads_to_the_sign_in_page_and_nowhere_else(app):
    with open_socket(app, "made-up") as socket:
        assert next_message(socket).auth_redirect.url == "/sign-in"
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=20)


# ------------------------------------------------------------------------------------------------- sign-in
def test_the_right_password_gives_a_cookie_that_scripts_cannot_read(client):
    answer = post_sign_in(client, "rosa")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = next(each for each in answer.headers.get_list("set-cookie") if each.startswith("overread="))
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie  # plain HTTP on this machine
    assert client.get("/").status_code == 200


def over_tls(client: httpx.Client, *, form_cookie: str = "__Host-overread-form") -> httpx.Response:
    """Sign in as through a proxy on this machine; the form's cookie is returned under its TLS name."""
    tls = {"X-Forwarded-Proto": "https"}
    form = client.get("/sign-in", headers=tls)
    [token] = [each for each in form.headers.get_list("set-cookie") if "-form=" in each]
    value = token.split(";")[0].split("=", 1)[1]
    return client.post(
        "/sign-in",
        data={"form_token": value, "name": "rosa", "password": PASSWORD},
        headers={**tls, "Cookie": f"{form_cookie}={value}"},
    )


def test_behind_tls_the_cookie_is_secure_and_bound_to_the_host(client):
    answer = over_tls(client)
    cookie = next(each for each in answer.headers.get_list("set-cookie") if "overread=" in each)
    assert cookie.startswith("__Host-overread=")
    assert "Secure" in cookie
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


def test_behind_tls_a_cookie_that_a_neighbouring_host_could_plant_is_not_read(client):
    assert over_tls(client, form_cookie="overread-form").status_code == 403
    cookie = signed_in(client, "rosa")
    client.cookies.clear()
    headers = {"X-Forwarded-Proto": "https", "Cookie": f"overread={cookie}"}
    assert client.get("/", headers=headers).status_code == 401


@pytest.mark.parametrize(("name", "password"), [("nobody", PASSWORD), ("otto", "wrong"), ("", PASSWORD)])
def test_a_wrong_pair_is_told_the_same_thing_and_gets_no_cookie(client, name, password):
    answer = post_sign_in(client, name, password)
    assert answer.status_code == 401
    assert "That name and password do not go together." in answer.text
    assert "overread" not in client.cookies


def test_a_form_without_this_browsers_token_is_refused(client):
    answer = post_sign_in(client, "rosa", token="forged")
    assert answer.status_code == 403
    assert "overread" not in client.cookies


def test_a_form_from_another_site_is_refused(client):
    fields = {"form_token": form_token(client), "name": "rosa", "password": PASSWORD}
    answer = client.post("/sign-in", data=fields, headers={"Origin": "https://elsewhere.example"})
    assert answer.status_code == 403


def test_what_was_typed_comes_back_as_text(client):
    answer = post_sign_in(client, '"><script>alert(1)</script>')
    assert "<script>" not in answer.text


def test_many_wrong_passwords_make_the_right_one_wait(app, client):
    post_sign_in(client, "dora", "wrong")
    with unit_of_work(app.engine) as db:  # simulates many failed attempts; their duration must not count
        db.execute(update(WrongPasswordRow).values(count=50))
    answer = post_sign_in(client, "dora")
    assert answer.status_code == 429
    assert "Too many wrong passwords" in answer.text
    with unit_of_work(app.engine) as db:
        db.execute(delete(WrongPasswordRow))


def test_a_form_of_megabytes_is_not_read(client):
    assert post_sign_in(client, "rosa", "x" * 100_000).status_code == 413


def test_the_answer_to_a_form_of_megabytes_arrives_although_the_form_is_still_being_sent(app):
    address = urlsplit(app.url)
    body = b"x" * 1_500_000
    head = f"POST /sign-in HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: {len(body)}\r\n\r\n"
    with create_connection((address.hostname, address.port), timeout=10) as connection:
        connection.sendall(head.encode())
        sleep(0.3)  # time enough for an answer that does not wait for the body
        connection.sendall(body)
        assert connection.recv(1024).startswith(b"HTTP/1.1 413 ")


def test_signing_in_again_ends_the_sign_in_that_the_browser_had(app, client):
    first = signed_in(client, "rosa")
    second = signed_in_anew(client, "otto")
    with httpx.Client(base_url=app.url, cookies={"overread": first}) as old:
        assert old.get("/").status_code == 401
    with httpx.Client(base_url=app.url, cookies={"overread": second}) as new:
        assert new.get("/").status_code == 200


def signed_in_anew(client: httpx.Client, name: str) -> str:
    """Sign in again from the same browser: its form token is still in a cookie; the page would redirect."""
    answer = post_sign_in(client, name, token=client.cookies["overread-form"])
    assert answer.status_code == 303
    return client.cookies["overread"]


# --------------------------------------------------------------------------- the running Streamlit session
def test_a_click_after_signing_out_elsewhere_leads_to_the_sign_in_page(app, client):
    cookie = signed_in(client, "rosa")
    with open_socket(app, cookie) as socket:
        streamlit_session(socket)
        with unit_of_work(app.engine) as db:
            accounts.sign_out(db, token=cookie, now=datetime.now(UTC))
        socket.send(rerun())
        assert last_message(socket).auth_redirect.url == "/sign-in"


def test_a_disabled_person_is_out_at_the_next_click(app, client):
    app.add_person("vera", Role.REVIEWER)
    cookie = signed_in(client, "vera")
    with open_socket(app, cookie) as socket:
        streamlit_session(socket)
        app.command("user", "disable", "vera")
        socket.send(rerun())
        assert last_message(socket).auth_redirect.url == "/sign-in"
    assert client.get("/").status_code == 401


def test_the_same_browser_gets_its_session_back_after_a_broken_connection(app, client):
    cookie = signed_in(client, "rosa")
    with open_socket(app, cookie) as socket:
        mine = streamlit_session(socket)
    with open_socket(app, cookie, resume=mine) as socket:
        assert streamlit_session(socket) == mine


def test_another_person_who_names_the_session_does_not_get_it(app, client):
    with open_socket(app, signed_in(client, "rosa")) as socket:
        hers = streamlit_session(socket)
        with httpx.Client(base_url=app.url) as thief:
            cookie = signed_in(thief, "otto")
        with open_socket(app, cookie, resume=hers) as other:
            assert streamlit_session(other) != hers
        assert streamlit_session(socket)  # and her session goes on


def test_the_header_that_binds_a_session_is_not_taken_from_outside(app, client):
    with open_socket(app, signed_in(client, "rosa")) as socket:
        hers = streamlit_session(socket)
    with httpx.Client(base_url=app.url) as thief:
        cookie = signed_in(thief, "otto")
    forged = {"X-Overread-Sign-In": "guessed"}
    with open_socket(app, cookie, resume=hers, **forged) as other:
        assert streamlit_session(other) != hers


# ------------------------------------------------------------------------------------------------- headers
@pytest.mark.parametrize("path", ["/sign-in", "/"])
def test_pages_say_what_they_may_load_and_that_nobody_keeps_or_frames_them(client, path):
    signed_in(client, "rosa")
    if path == "/sign-in":
        client.cookies.delete("overread")
    headers = client.get(path).headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    script_source = re.search(r"script-src ([^;]*)", headers["content-security-policy"])
    assert script_source is None or "unsafe" not in script_source[1]
    style_source = re.search(r"style-src ([^;]*)", headers["content-security-policy"])
    assert style_source
    # Streamlit writes styles inline; the sign-in page allows no inline style but its own sheet.
    assert ("unsafe-inline" in style_source[1]) == (path == "/")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
