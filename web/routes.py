"""All routes of the app, and who may use them. A route that is not in this table is not served."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

import web.adjudication.routes
import web.reading.routes
import web.review.routes
import web.sign_in.routes
from domain.access import Action
from web import connected, health, metrics
from web.files import (
    audit,
    downloads,
    estimates,
    input_preferences,
    model_scores,
    problems,
    prompt_bench,
    region_checks,
    statistics,
    study_reports,
)
from web.forms import routes as form_routes
from web.images import pixels, radiographs
from web.sign_in import first_admin, second_factor


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteGroup:
    """Routes with the same access rule.

    The routes require permission for ``action``, or any sign-in if it is None. If ``needs_sign_in`` is False,
    they are open to everybody.
    """

    routes: list[Route]
    action: Action | None = None
    needs_sign_in: bool = True


ROUTE_GROUPS = (
    # Signing in, and the health of the app.
    RouteGroup(
        needs_sign_in=False,
        routes=[
            *web.sign_in.routes.ROUTES,
            *second_factor.ROUTES,
            *first_admin.ROUTES,
            *health.ROUTES,
            *metrics.ROUTES,
        ],
    ),
    # Access to a radiograph depends on the person's assignments; the routes check it.
    RouteGroup(routes=[*connected.ROUTES, *form_routes.ROUTES, *radiographs.ROUTES, *pixels.ROUTES]),
    RouteGroup(routes=input_preferences.ROUTES),
    RouteGroup(action=Action.IMPORT_QUESTIONS, routes=downloads.IMPORT_ROUTES),
    RouteGroup(action=Action.SEE_CHECKS, routes=problems.ROUTES),
    RouteGroup(action=Action.BROWSE, routes=statistics.ROUTES),
    RouteGroup(action=Action.SEE_PROGRESS, routes=estimates.ROUTES),
    RouteGroup(action=Action.MAKE_RELEASE, routes=downloads.RELEASE_ROUTES),
    RouteGroup(action=Action.SEE_AUDIT, routes=audit.ROUTES),
    RouteGroup(action=Action.RUN_STUDY, routes=study_reports.ROUTES),
    RouteGroup(
        action=Action.RUN_MODELS,
        routes=[*prompt_bench.ROUTES, *region_checks.ROUTES, *model_scores.ROUTES],
    ),
    RouteGroup(action=Action.JUDGE, routes=web.review.routes.ROUTES),
    RouteGroup(action=Action.ADJUDICATE, routes=web.adjudication.routes.ROUTES),
    RouteGroup(action=Action.READ, routes=web.reading.routes.ROUTES),
)

ROUTES: list[BaseRoute] = [route for group in ROUTE_GROUPS for route in group.routes]
#: Paths that need no sign-in.
OPEN_PATHS = frozenset(
    route.path for group in ROUTE_GROUPS if not group.needs_sign_in for route in group.routes
)


def find_route(scope: Scope) -> tuple[RouteGroup, Route] | None:
    """Return the group and the route that match the request; None if no route of this table matches."""
    for group in ROUTE_GROUPS:
        for route in group.routes:
            if route.matches(scope)[0] is Match.FULL:
                return group, route
    return None
