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
from storage.rows.sign_in_security import WrongPasswordRow
from storage.unit_of_work import unit_of_work
from tests.e2e.conftest import PASSWORD
from tests.e2e.websocket_client import open_socket

_FORM_TOKEN = re.compile(r'name="form_token" value="([^"]+)"')


@pytest.fixture(scope="module", autouse=True)
def people(app):
    for name in ("rosa", "otto", "dora"):
        app.add_person(name, Role.REVIEWER)
    app.add_person("ada", Role.ADMIN)


@pytest.fixture
def client(app):
    with httpx.Client(base_url=app.url) as http_client:
        yield http_client


def load_form_token(client: httpx.Client) -> str:
    match = _FORM_TOKEN.search(client.get("/sign-in").text)
    assert match
    return match[1]


def post_sign_in(
    client: httpx.Client, name: str, password: str = PASSWORD, token: str | None = None
) -> httpx.Response:
    fields = {"form_token": token or load_form_token(client), "name": name, "password": password}
    return client.post("/sign-in", data=fields)


def sign_in_client(client: httpx.Client, name: str) -> str:
    assert post_sign_in(client, name).status_code == 303
    return client.cookies["overread"]


def make_rerun_message() -> bytes:
    return BackMsg(rerun_script=ClientState(query_string="")).SerializeToString()


def receive_message(socket: ClientConnection) -> ForwardMsg:
    received = socket.recv(timeout=20)
    assert isinstance(received, bytes)
    return ForwardMsg.FromString(received)


def receive_last_message(socket: ClientConnection) -> ForwardMsg:
    """The last message before the server closed the connection."""
    last = receive_message(socket)
    while True:
        try:
            last = receive_message(socket)
        except ConnectionClosed:
            return last


def get_session_id(socket: ClientConnection) -> str:
    """The id of the Streamlit session of a connection."""
    socket.send(make_rerun_message())
    while True:
        message = receive_message(socket)
        if message.WhichOneof("type") == "new_session":
            return message.new_session.initialize.session_id


# ---------------------------------------------------------------------------------- with a forged sign-in
def test_forged_cookie_is_refused(client):
    client.cookies["overread"] = "made-up"
    assert client.get("/").status_code == 401


def test_forged_cookie_on_the_websocket_leads_to_the_sign_in_page(app):
    with open_socket(app, "made-up") as socket:
        assert receive_message(socket).auth_redirect.url == "/sign-in"
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=20)


# ------------------------------------------------------------------------------------------------- sign-in
def test_the_right_password_gives_a_cookie_that_scripts_cannot_read(client):
    response = post_sign_in(client, "rosa")
    assert (response.status_code, response.headers["location"]) == (303, "/")
    cookie = next(
        header for header in response.headers.get_list("set-cookie") if header.startswith("overread=")
    )
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie  # plain HTTP on this machine
    assert client.get("/").status_code == 200


def sign_in_over_tls(client: httpx.Client, *, form_cookie: str = "__Host-overread-form") -> httpx.Response:
    """Sign in as through a proxy on this machine; the form's cookie is sent back as `form_cookie`."""
    tls = {"X-Forwarded-Proto": "https"}
    form = client.get("/sign-in", headers=tls)
    [cookie_header] = [header for header in form.headers.get_list("set-cookie") if "-form=" in header]
    value = cookie_header.split(";")[0].split("=", 1)[1]
    return client.post(
        "/sign-in",
        data={"form_token": value, "name": "rosa", "password": PASSWORD},
        headers={**tls, "Cookie": f"{form_cookie}={value}"},
    )


def test_behind_tls_the_cookie_is_secure_and_bound_to_the_host(client):
    response = sign_in_over_tls(client)
    cookie = next(header for header in response.headers.get_list("set-cookie") if "overread=" in header)
    assert cookie.startswith("__Host-overread=")
    assert "Secure" in cookie
    assert response.headers["strict-transport-security"] == "max-age=31536000"


def test_behind_tls_a_cookie_without_host_prefix_is_ignored(client):
    assert sign_in_over_tls(client, form_cookie="overread-form").status_code == 403
    cookie = sign_in_client(client, "rosa")
    client.cookies.clear()
    headers = {"X-Forwarded-Proto": "https", "Cookie": f"overread={cookie}"}
    assert client.get("/", headers=headers).status_code == 401


@pytest.mark.parametrize(("name", "password"), [("nobody", PASSWORD), ("otto", "wrong"), ("", PASSWORD)])
def test_wrong_name_and_wrong_password_get_the_same_message(client, name, password):
    response = post_sign_in(client, name, password)
    assert response.status_code == 401
    assert "The name or password is wrong." in response.text
    assert "overread" not in client.cookies


def test_a_form_without_this_browsers_token_is_refused(client):
    response = post_sign_in(client, "rosa", token="forged")
    assert response.status_code == 403
    assert "overread" not in client.cookies


def test_a_form_from_another_site_is_refused(client):
    fields = {"form_token": load_form_token(client), "name": "rosa", "password": PASSWORD}
    response = client.post("/sign-in", data=fields, headers={"Origin": "https://elsewhere.example"})
    assert response.status_code == 403


def test_entered_name_is_returned_escaped(client):
    response = post_sign_in(client, '"><script>alert(1)</script>')
    assert "<script>" not in response.text


def test_many_wrong_passwords_delay_the_next_attempt(app, client):
    post_sign_in(client, "dora", "wrong")
    with unit_of_work(app.engine) as db:  # simulates many failed attempts; their duration must not count
        db.execute(update(WrongPasswordRow).values(count=50))
    response = post_sign_in(client, "dora")
    assert response.status_code == 429
    assert "Too many wrong passwords" in response.text
    with unit_of_work(app.engine) as db:
        db.execute(delete(WrongPasswordRow))


def test_oversized_form_is_refused(client):
    assert post_sign_in(client, "rosa", "x" * 100_000).status_code == 413


def test_oversized_form_is_answered_while_it_is_still_being_sent(app):
    address = urlsplit(app.url)
    body = b"x" * 1_500_000
    head = f"POST /sign-in HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: {len(body)}\r\n\r\n"
    with create_connection((address.hostname, address.port), timeout=10) as connection:
        connection.sendall(head.encode())
        sleep(0.3)  # time enough for an answer that does not wait for the body
        connection.sendall(body)
        assert connection.recv(1024).startswith(b"HTTP/1.1 413 ")


def test_signing_in_again_ends_the_previous_sign_in(app, client):
    first = sign_in_client(client, "rosa")
    second = sign_in_again(client, "otto")
    with httpx.Client(base_url=app.url, cookies={"overread": first}) as old:
        assert old.get("/").status_code == 401
    with httpx.Client(base_url=app.url, cookies={"overread": second}) as new:
        assert new.get("/").status_code == 200


def sign_in_again(client: httpx.Client, name: str) -> str:
    """Sign in again from the same browser: its form token is still in a cookie; the page would redirect."""
    response = post_sign_in(client, name, token=client.cookies["overread-form"])
    assert response.status_code == 303
    return client.cookies["overread"]


# --------------------------------------------------------------------------- the running Streamlit session
def test_a_click_after_signing_out_elsewhere_leads_to_the_sign_in_page(app, client):
    cookie = sign_in_client(client, "rosa")
    with open_socket(app, cookie) as socket:
        get_session_id(socket)
        with unit_of_work(app.engine) as db:
            accounts.sign_out(db, token=cookie, now=datetime.now(UTC))
        socket.send(make_rerun_message())
        assert receive_last_message(socket).auth_redirect.url == "/sign-in"


def test_disabled_person_is_signed_out_at_the_next_click(app, client):
    app.add_person("vera", Role.REVIEWER)
    cookie = sign_in_client(client, "vera")
    with open_socket(app, cookie) as socket:
        get_session_id(socket)
        app.command("user", "disable", "vera")
        socket.send(make_rerun_message())
        assert receive_last_message(socket).auth_redirect.url == "/sign-in"
    assert client.get("/").status_code == 401


@pytest.mark.full
def test_browser_resumes_its_session_after_a_lost_connection(app, client):
    cookie = sign_in_client(client, "rosa")
    with open_socket(app, cookie) as socket:
        session_id = get_session_id(socket)
    with open_socket(app, cookie, resume=session_id) as socket:
        assert get_session_id(socket) == session_id


def test_another_person_cannot_resume_the_session(app, client):
    with open_socket(app, sign_in_client(client, "rosa")) as socket:
        her_session = get_session_id(socket)
        with httpx.Client(base_url=app.url) as thief:
            cookie = sign_in_client(thief, "otto")
        with open_socket(app, cookie, resume=her_session) as other_socket:
            assert get_session_id(other_socket) != her_session
        assert get_session_id(socket)  # her own session continues


def test_internal_session_header_from_a_client_is_ignored(app, client):
    with open_socket(app, sign_in_client(client, "rosa")) as socket:
        her_session = get_session_id(socket)
    with httpx.Client(base_url=app.url) as thief:
        cookie = sign_in_client(thief, "otto")
    forged = {"X-Overread-Sign-In": "guessed"}
    with open_socket(app, cookie, resume=her_session, **forged) as other_socket:
        assert get_session_id(other_socket) != her_session


# ------------------------------------------------------------------------------------------------- headers
@pytest.mark.parametrize("path", ["/sign-in", "/"])
def test_pages_have_security_headers(client, path):
    sign_in_client(client, "rosa")
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
