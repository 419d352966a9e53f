"""GET /connected: whether the app can serve a signed-in person. A page that lost its connection polls it.

The gate responds first: with 503 if the database is unavailable, and with 401 without a valid sign-in. Only
other requests reach this route, which always responds with 204.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


async def check_connection(request: Request) -> Response:  # noqa: ARG001 - Starlette passes it to every route
    return Response(status_code=204, headers={"Cache-Control": "no-store"})


ROUTES = [Route("/connected", check_connection, methods=["GET"])]
