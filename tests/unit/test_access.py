"""The one table of access: nothing in the browser is outside of it, and each page asks for its own row."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from starlette.routing import Route

from domain.access import (
    ALLOWED,
    OPEN_ROUTES,
    PAGES_OF_ALL,
    ROUTES_OF_ALL,
    TABLE,
    Action,
    Role,
    action_of_page,
    action_of_route,
)
from ui.navigation import PAGES
from web.routes import ROUTES

ROOT = Path(__file__).resolve().parents[2]
LISTED_ROUTES = [*(route for row in TABLE for route in row.routes), *ROUTES_OF_ALL, *OPEN_ROUTES]
LISTED_PAGES = [*(page for row in TABLE for page in row.pages), *PAGES_OF_ALL]


def declared_routes() -> list[str]:
    """Each route of the app's own as "METHOD /path"; HEAD comes with GET."""
    routes = [route for route in ROUTES if isinstance(route, Route)]
    assert len(routes) == len(ROUTES)
    return sorted(
        f"{method} {route.path}" for route in routes for method in (route.methods or set()) - {"HEAD"}
    )


def action_asked_for(file: str) -> str | None:
    """The name of the action that a page's file hands to ``require_page``, "" when it never asks."""
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "require_page":
            return node.args[0].attr if node.args and isinstance(node.args[0], ast.Attribute) else None
    return ""


def test_every_action_has_one_row():
    assert sorted(row.action for row in TABLE) == sorted(Action)


def test_no_page_and_no_route_stands_twice():
    for listed in (LISTED_PAGES, LISTED_ROUTES):
        assert sorted(listed) == sorted(set(listed))


def test_every_route_of_the_app_is_in_the_table_and_no_other():
    assert declared_routes() == sorted(LISTED_ROUTES)


def test_every_page_on_disk_is_in_the_table_and_in_the_navigation():
    on_disk = sorted(
        f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py") if path.stem != "__init__"
    )
    assert sorted(LISTED_PAGES) == on_disk
    assert sorted(page.file for page in PAGES) == on_disk


@pytest.mark.parametrize("page", [page.file for page in PAGES])
def test_every_page_asks_for_the_action_of_its_own_row(page):
    action = action_of_page(page)
    assert action_asked_for(page) == (action.name if action else None)


@pytest.mark.parametrize("role", Role)
def test_the_table_by_role_says_the_same(role):
    assert ALLOWED[role] == {row.action for row in TABLE if role in row.roles}


def test_a_page_or_route_that_nobody_entered_is_an_error():
    with pytest.raises(ValueError, match="not in the table"):
        action_of_page("pages/forgotten.py")
    with pytest.raises(ValueError, match="not in the table"):
        action_of_route("GET /forgotten")
