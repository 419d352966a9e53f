"""The host names under which the app answers."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from domain.errors import InvalidValue
from web.allowed_hosts import AllowedHosts, is_allowed, read_allowed_names


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:8501",
        "LOCALHOST:8501",
        "localhost.",
        "127.0.0.1:8501",
        "192.168.1.7",
        "[::1]:8501",
    ],
)
def test_localhost_and_addresses_are_allowed_without_a_setting(host):
    assert is_allowed(host, ())


@pytest.mark.parametrize(
    "host",
    [
        "", "attacker.example", "localhost.attacker.example", "127.0.0.1.attacker.example",
        "localhost@attacker.example", "localhost:8501:1", "localhost/", "localhost, attacker.example",
        "[attacker.example]", "localhost\x00", "2130706433x",
    ],
)  # fmt: skip
def test_other_names_are_refused(host):
    assert not is_allowed(host, ())


def test_names_of_the_setting_are_allowed_and_their_subdomains_are_not(monkeypatch):
    monkeypatch.setenv("OVERREAD_ALLOWED_HOSTS", " Overread.example.org, radiology ,")
    names = read_allowed_names()
    assert is_allowed("overread.example.org:443", names)
    assert is_allowed("RADIOLOGY", names)
    assert not is_allowed("evil.overread.example.org", names)


@pytest.mark.parametrize("value", ["https://overread.example.org", "overread.example.org:443", "*", "a b"])
def test_a_setting_with_an_invalid_host_name_is_refused(monkeypatch, value):
    monkeypatch.setenv("OVERREAD_ALLOWED_HOSTS", value)
    with pytest.raises(InvalidValue, match="is not a host name"):
        read_allowed_names()


@pytest.fixture
def client():
    async def answer(_request):
        return PlainTextResponse("secret")

    async def echo(websocket):
        await websocket.accept()
        await websocket.send_text("secret")
        await websocket.close()

    routes = [Route("/", answer), WebSocketRoute("/stream", echo)]
    return TestClient(
        Starlette(routes=routes, middleware=[Middleware(AllowedHosts)]), base_url="http://localhost"
    )


def test_a_request_to_another_name_gets_only_an_error_with_advice(client):
    response = client.get("/", headers={"Host": "rebound.attacker.example:8501"})
    assert response.status_code == 400
    assert "secret" not in response.text
    assert "OVERREAD_ALLOWED_HOSTS" in response.text
    assert client.get("/").text == "secret"


def test_a_name_in_the_message_is_escaped(client):
    response = client.get("/", headers={"Host": "<script>alert(1)</script>"})
    assert response.status_code == 400
    assert "<script>alert" not in response.text


def test_a_websocket_to_another_name_is_refused(client):
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect("/stream", headers={"Host": "rebound.attacker.example"}) as socket,
    ):
        socket.receive_text()
    with client.websocket_connect("/stream", headers={"Host": "localhost:8501"}) as socket:
        assert socket.receive_text() == "secret"


def test_forwarded_host_headers_are_ignored(client):
    headers = {"Host": "attacker.example", "X-Forwarded-Host": "localhost", "Forwarded": "host=localhost"}
    assert client.get("/", headers=headers).status_code == 400
