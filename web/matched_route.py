"""Which of the app's own routes a request is for, as the table of access names it."""

from __future__ import annotations

from starlette.routing import Match, Route
from starlette.types import Scope

from web.routes import ROUTES


def own_route(scope: Scope) -> Route | None:
    """The route that will answer; None where the path is Streamlit's, or no method of ours fits."""
    for route in ROUTES:
        if isinstance(route, Route) and route.matches(scope)[0] is Match.FULL:
            return route
    return None


def entry_of(route: Route, scope: Scope) -> str:
    """Method and path as in domain/access.py; HEAD is the same as GET."""
    method = scope["method"]
    return f"{'GET' if method == 'HEAD' else method} {route.path}"
