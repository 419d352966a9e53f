"""GET /connected: whether somebody signed in would be served now. An open page asks while its line is cut.

The gate answers it: 503 while the database is away, 401 for whoever is not signed in. What is left is "yes".
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


async def connected(request: Request) -> Response:  # noqa: ARG001 - Starlette hands it to every route
    return Response(status_code=204, headers={"Cache-Control": "no-store"})


ROUTES = [Route("/connected", connected, methods=["GET"])]
