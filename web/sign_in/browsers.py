"""Describes the browser that sent a request, and returns its network address."""

from __future__ import annotations

from starlette.requests import HTTPConnection

# The order matters: Edge and Opera also contain "Chrome", and Chrome also contains "Safari".
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("Windows", "Windows"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "Mac"),
    ("Linux", "Linux"),
)


def describe_browser(connection: HTTPConnection) -> str:
    """Return browser and system, as in "Firefox on Windows": fixed names only, no text from the header."""
    user_agent = connection.headers.get("user-agent", "")
    browser = next((name for token, name in _BROWSERS if token in user_agent), "another browser")
    system = next((name for token, name in _SYSTEMS if token in user_agent), "")
    return f"{browser} on {system}" if system else browser


def client_address(connection: HTTPConnection) -> str:
    """Return the browser's network address; behind a trusted proxy, the address that the proxy states."""
    return connection.client.host if connection.client else ""
