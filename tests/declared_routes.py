"""The routes of the app as text, for tests that compare who may use them."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.routing import Route

from web.routes import ROUTE_GROUPS


def list_route_names(routes: Iterable[Route]) -> list[str]:
    """Each route as "METHOD /path"; HEAD is included with GET."""
    return [f"{method} {route.path}" for route in routes for method in sorted(route.methods - {"HEAD"})]


OPEN_ROUTES = [
    name for group in ROUTE_GROUPS if not group.needs_sign_in for name in list_route_names(group.routes)
]
CLOSED_ROUTES = [
    name for group in ROUTE_GROUPS if group.needs_sign_in for name in list_route_names(group.routes)
]
