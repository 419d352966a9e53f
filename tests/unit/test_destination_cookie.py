"""The page that a browser asked for before it signed in: only pages of this app are kept."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from starlette.responses import Response

from web.sign_in.cookies import find_destination, set_destination_cookie

PAGES = ["/review", "/review?batch=1&question=12", "/browse?question=6", "/estimates?dataset=A%20B"]
OTHER_ADDRESSES = [
    "/", "", "//evil.example", "/\\\\evil.example", "https://evil.example",
    "/review\r\nSet-Cookie: a=b", "/a/b",
    "/review#part", "/review?next=//evil.example", "/review?" + "a" * 501, "/Review;a",
]  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_kept_with_its_parameters(page):
    response = Response()
    set_destination_cookie(response, page, tls=True)
    [header] = [value for name, value in response.raw_headers if name == b"set-cookie"]
    name, _, value = header.decode().partition(";")[0].partition("=")
    assert find_destination({name: value}) == page
    assert {"HttpOnly", "Secure", "SameSite=lax"} <= {part.strip() for part in header.decode().split(";")}


@pytest.mark.parametrize("address", OTHER_ADDRESSES)
def test_an_address_that_is_no_page_of_the_app_is_neither_kept_nor_followed(address):
    response = Response()
    set_destination_cookie(response, address, tls=False)
    assert b"set-cookie" not in dict(response.raw_headers)
    assert find_destination({"overread-page": quote(address, safe="")}) is None
