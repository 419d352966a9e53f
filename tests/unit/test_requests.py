"""What the app's own routes share: only its own pages may write, errors have their status, JSON is valid."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from domain.errors import (
    AlreadyThere,
    InvalidValue,
    NotAllowed,
    NotFound,
    NotNow,
    NotSignedIn,
    Refused,
    StaleRevision,
)
from web.requests import (
    UnreadableRequest,
    http_status,
    json_errors,
    json_response,
    read_json_body,
    require_same_origin,
)

SAME_ORIGIN_HEADERS = {"X-Overread": "1", "Origin": "http://overread.example"}


@json_errors
async def echo(request: Request) -> Response:
    require_same_origin(request)
    return json_response({"body": await read_json_body(request)})


@pytest.fixture
def client():
    app = Starlette(routes=[Route("/echo", echo, methods=["POST"])])
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://overread.example")


async def post(client: httpx.AsyncClient, content: bytes = b'{"a": 1}', **headers: str) -> httpx.Response:
    async with client:
        return await client.post("/echo", content=content, headers=headers)


def post_and_wait(client, content=b'{"a": 1}', headers=SAME_ORIGIN_HEADERS):
    return asyncio.run(post(client, content, **headers))


def test_a_same_origin_request_is_answered(client):
    response = post_and_wait(client)
    assert (response.status_code, response.json()) == (200, {"body": {"a": 1}})
    assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": SAME_ORIGIN_HEADERS["Origin"]},
        {"X-Overread": "1"},
        {"X-Overread": "1", "Origin": "https://elsewhere.example"},
        {"X-Overread": "1", "Origin": "null"},
        {"X-Overread": "1", "Origin": SAME_ORIGIN_HEADERS["Origin"], "Sec-Fetch-Site": "cross-site"},
        {"X-Overread": "1", "Origin": SAME_ORIGIN_HEADERS["Origin"], "Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_possible_cross_site_request_is_refused(client, headers):
    response = post_and_wait(client, headers=headers)
    assert (response.status_code, response.json()["kind"]) == (403, "NotAllowed")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b"NaN", b'{"a": "\xff"}'])
def test_invalid_json_is_refused(client, content):
    response = post_and_wait(client, content)
    assert (response.status_code, response.json()["kind"]) == (400, "UnreadableRequest")


def test_a_null_character_is_refused(client):
    assert post_and_wait(client, rb'{"a": "b\u0000"}').status_code == 400


def test_an_escaped_backslash_u0000_is_ordinary_text(client):
    assert post_and_wait(client, rb'{"a": "b\\u0000"}').json() == {"body": {"a": r"b\u0000"}}


def test_a_body_of_several_megabytes_is_refused(client):
    assert post_and_wait(client, b'"' + b"x" * 3_000_000 + b'"').status_code == 400


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotSignedIn(), 401),
        (NotAllowed(), 403),
        (NotFound(), 404),
        (StaleRevision(), 409),
        (AlreadyThere(), 409),
        (NotNow(), 503),
        (UnreadableRequest(), 400),
        (Refused(), 422),
        (InvalidValue("stem", "is empty"), 422),
    ],
)
def test_each_error_has_its_http_status(error, status):
    assert http_status(error) == status


def test_a_disconnect_during_the_request_is_a_client_error():
    async def receive_disconnect():
        return {"type": "http.disconnect"}

    request = Request({"type": "http", "method": "POST", "headers": []}, receive_disconnect)
    with pytest.raises(UnreadableRequest, match="disconnected before"):
        asyncio.run(read_json_body(request))
