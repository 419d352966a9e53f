"""What the app's own routes share: only our pages write, errors have their status, JSON is valid."""

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

OURS = {"X-Overread": "1", "Origin": "http://overread.example"}


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


def posted(client, content=b'{"a": 1}', headers=OURS):
    return asyncio.run(post(client, content, **headers))


def test_a_request_from_our_page_is_answered(client):
    answer = posted(client)
    assert (answer.status_code, answer.json()) == (200, {"body": {"a": 1}})
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": OURS["Origin"]},
        {"X-Overread": "1"},
        {"X-Overread": "1", "Origin": "https://elsewhere.example"},
        {"X-Overread": "1", "Origin": "null"},
        {"X-Overread": "1", "Origin": OURS["Origin"], "Sec-Fetch-Site": "cross-site"},
        {"X-Overread": "1", "Origin": OURS["Origin"], "Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_request_that_may_be_somebody_elses_is_refused(client, headers):
    answer = posted(client, headers=headers)
    assert (answer.status_code, answer.json()["kind"]) == (403, "NotAllowed")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b"NaN", b'{"a": "\xff"}'])
def test_what_is_not_json_is_refused(client, content):
    answer = posted(client, content)
    assert (answer.status_code, answer.json()["kind"]) == (400, "UnreadableRequest")


def test_a_text_with_the_character_zero_is_refused(client):
    assert posted(client, rb'{"a": "b\u0000"}').status_code == 400


def test_the_letters_of_that_character_are_text_as_any_other(client):
    assert posted(client, rb'{"a": "b\\u0000"}').json() == {"body": {"a": r"b\u0000"}}


def test_a_body_of_megabytes_is_refused(client):
    assert posted(client, b'"' + b"x" * 3_000_000 + b'"').status_code == 400


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
def test_each_error_has_its_status(error, status):
    assert http_status(error) == status


def test_a_browser_that_leaves_while_it_sends_is_no_fault_of_ours():
    async def leaves():
        return {"type": "http.disconnect"}

    request = Request({"type": "http", "method": "POST", "headers": []}, leaves)
    with pytest.raises(UnreadableRequest, match="disconnected before"):
        asyncio.run(read_json_body(request))
