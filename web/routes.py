"""The routes of the app, collected from the modules of web/."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from starlette.routing import BaseRoute

_MODULES = (
    "web.sign_in.routes",
    "web.sign_in.first_admin",
    "web.health",
    "web.connected",
    "web.images.radiographs",
    "web.images.pixels",
    "web.files.downloads",
    "web.files.audit",
    "web.files.estimates",
    "web.files.study_reports",
    "web.files.statistics",
    "web.forms.routes",
    "web.review.routes",
    "web.reading.routes",
    "web.adjudication.routes",
)


def collect() -> list[BaseRoute]:
    """The ``ROUTES`` of each module, in this order."""
    there = (name for name in _MODULES if find_spec(name) is not None)
    return [route for name in there for route in import_module(name).ROUTES]


ROUTES: list[BaseRoute] = collect()
