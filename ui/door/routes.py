"""All routes of the app's own, collected from the door's modules."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from starlette.routing import BaseRoute

_MODULES = (
    "ui.door.sign_in",
    "ui.door.first_admin",
    "ui.door.health",
    "ui.door.connected",
    "ui.door.radiographs",
    "ui.door.pixels",
    "ui.door.files",
    "ui.door.audit_file",
    "ui.door.estimates_file",
    "ui.door.study_report_file",
    "ui.door.statistics_file",
    "ui.door.form_routes",
    "ui.door.judging",
    "ui.door.reading",
    "ui.door.settling",
)


def collect() -> list[BaseRoute]:
    """The ``ROUTES`` of each module, in this order."""
    there = (name for name in _MODULES if find_spec(name) is not None)
    return [route for name in there for route in import_module(name).ROUTES]


ROUTES: list[BaseRoute] = collect()
