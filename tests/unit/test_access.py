"""Permissions: roles, pages and routes agree, and each page requires the action of its row."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from domain.access import ACTIONS_BY_ROLE, ROLES_BY_ACTION, Action, Role
from tests.declared_routes import CLOSED_ROUTES, OPEN_ROUTES
from ui.navigation import ACTIONS_WITHIN_PAGES, PAGES
from web.routes import ROUTE_GROUPS

ROOT = Path(__file__).resolve().parents[2]
#: The pages that everybody who is signed in may open.
PAGES_WITHOUT_ACTION = {"pages/home.py", "pages/account.py"}


def read_required_action(file: str) -> str | None:
    """Return the action that a page passes to ``require_page``, None without one, "" without a call."""
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "require_page":
            return node.args[0].attr if node.args and isinstance(node.args[0], ast.Attribute) else None
    return ""


def test_every_action_has_roles():
    assert set(ROLES_BY_ACTION) == set(Action)
    assert all(ROLES_BY_ACTION.values())


def test_every_action_has_a_page():
    assert {page.action for page in PAGES} - {None} | ACTIONS_WITHIN_PAGES == set(Action)


def test_only_home_and_account_need_no_action():
    assert {page.file for page in PAGES if page.action is None} == PAGES_WITHOUT_ACTION


def test_no_route_is_declared_twice():
    paths = [*OPEN_ROUTES, *CLOSED_ROUTES]
    assert sorted(paths) == sorted(set(paths))


def test_a_route_for_an_action_needs_a_sign_in():
    assert all(group.needs_sign_in for group in ROUTE_GROUPS if group.action is not None)


def test_only_listed_routes_have_a_sign_in_without_an_action():
    groups = [group for group in ROUTE_GROUPS if group.action is None and group.needs_sign_in]
    assert sorted(route.path for group in groups for route in group.routes) == [
        "/connected",
        "/files/keys.json",
        "/frontend/{digest}/{name}",
        "/pixels/{exam_number:int}/{anything:path}",
        "/radiographs/{exam_number:int}/{radiograph_key:path}",
    ]


def test_every_page_on_disk_is_in_the_navigation_once():
    on_disk = sorted(
        f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py") if path.stem != "__init__"
    )
    assert sorted(page.file for page in PAGES) == on_disk


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.file)
def test_every_page_requires_the_action_declared_for_it(page):
    assert read_required_action(page.file) == (page.action.name if page.action else None)


@pytest.mark.parametrize("role", Role)
def test_actions_by_role_match_roles_by_action(role):
    assert ACTIONS_BY_ROLE[role] == {action for action, roles in ROLES_BY_ACTION.items() if role in roles}


def test_every_route_declared_in_web_is_served():
    declared = {
        call.args[0].value
        for path in (ROOT / "web").rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in {"Route", "form_route"}
        if isinstance(call.args[0], ast.Constant)
    }
    assert declared == {route.path for group in ROUTE_GROUPS for route in group.routes}
