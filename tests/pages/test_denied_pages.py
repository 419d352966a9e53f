"""Every denied cell of role x page, by running the page's file without the navigation: nothing is drawn."""

import pytest

from domain.people import ACTIONS_BY_ROLE, Role
from tests.pages.conftest import texts
from ui.navigation import PAGES


@pytest.mark.parametrize("role", Role)
def test_a_page_that_is_not_for_the_role_says_only_that_it_is_not_there(sign_in_as, run_page, role):
    sign_in_as("bert", role)
    denied = [page for page in PAGES if page.action and page.action not in ACTIONS_BY_ROLE[role]]
    assert denied
    for page in denied:
        shown = run_page(page.file)
        assert not shown.exception
        assert texts(shown) == "Page not found."
