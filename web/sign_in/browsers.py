"""The description of a browser, by which its owner recognises it, and its network address."""

from __future__ import annotations

from starlette.requests import HTTPConnection

# The order matters: Edge and Opera also call themselves Chrome, and Chrome calls itself Safari.
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
    """Browser and system, such as "Firefox on Windows"; never text from the request, which may be forged."""
    user_agent = connection.headers.get("user-agent", "")
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), "another browser")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    return f"{browser} on {system}" if system else browser


def client_address(connection: HTTPConnection) -> str:
    """The network address of the browser; the address that a trusted proxy states, if there is one."""
    return connection.client.host if connection.client else ""
