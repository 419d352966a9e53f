"""Raw HTTP and websocket without a cookie: nothing of the app is sent, and no input is accepted."""

from __future__ import annotations

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from tests.e2e.websocket_client import open_socket

_PROTECTED_PATHS = (
    "/", "/people", "/progress", "/media/0123456789abcdef.png", "/component/anything/index.html",
    "/_stcore/metrics", "/_stcore/bidi-components/anything/index.js", "/_stcore/script-health-check",
    "/_stcore/agent/openapi.json", "/_stcore/agent/mcp", "/static/js/index.js", "/favicon.png",
    "/manifest.json", "/app/static/anything", "/radiographs/1/anything", "/files/refusals/anything.csv",
    "/auth/login", "/auth/logout", "/oauth2callback", "/sign-in/", "/sign-in/../", "//sign-in", "/health/x",
    "/_stcore/agent/interact", "/_stcore/stream", "/_stcore/upload_file/session/file", "/_stcore/health/x",
    "/_stcore//metrics", "//_stcore/stream", "/%5Fstcore/metrics", "/_stcore/%2e%2e/media/x.png",
    "/_stcore/", "/_stcore/host-config/", "/connected", "/pixels/1/pa", "/frontend/x/review.js",
)  # fmt: skip
#: The settings that /_stcore/host-config may return without a sign-in. ``allowedOrigins`` lists the sites
#: that may frame the page; our header forbids all.
_ALLOWED_SETTINGS = {
    "allowedOrigins", "useExternalAuthToken", "enableCustomParentMessages", "disableFullscreenMode",
    "enforceDownloadInNewTab", "metricsUrl", "blockErrorDialogs", "mapboxToken", "resourceCrossOriginMode",
    "setAnonymousCrossOriginPropertyOnMediaElements",
}  # fmt: skip


@pytest.fixture
def client(app):
    with httpx.Client(base_url=app.url) as http_client:
        yield http_client


@pytest.mark.parametrize("path", _PROTECTED_PATHS)
def test_without_a_cookie_nothing_is_served(client, path):
    response = client.get(path)
    assert response.status_code == 401
    assert response.json() == {"error": "Sign in first.", "kind": "NotSignedIn"}


@pytest.mark.parametrize("path", ["/", "/people", "/media/0123456789abcdef.png"])
def test_page_request_is_redirected_to_the_sign_in_page(client, path):
    response = client.get(path, headers={"Accept": "text/html"})
    assert (response.status_code, response.headers["location"], response.content) == (303, "/sign-in", b"")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "POST", "PATCH", "OPTIONS", "HEAD"])
@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/upload_file/session/file", "/_stcore/agent/interact", "/_stcore/agent/mcp",
        "/_stcore/metrics", "/media/x.png",
    ],
)  # fmt: skip
def test_without_a_cookie_no_request_is_accepted(client, method, path):
    response = client.request(method, path, headers={"Accept": "text/html"})
    assert response.status_code == 401


def test_open_streamlit_endpoints_return_only_allowed_settings(client):
    assert client.get("/_stcore/health").text == "ok"
    config = client.get("/_stcore/host-config").json()
    assert config["useExternalAuthToken"] is False
    assert config["enableCustomParentMessages"] is False
    assert set(config) <= _ALLOWED_SETTINGS


def test_health_route_is_open_and_returns_only_ok(client):
    assert client.get("/health").text == "ok"


def test_without_a_cookie_the_websocket_is_refused(app):
    with pytest.raises(InvalidStatus) as refusal, open_socket(app, None):
        pass
    assert refusal.value.response.status_code == 403
