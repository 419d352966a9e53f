"""For every denied combination of role and page, the page's file alone, without navigation, shows nothing."""

import pytest

from domain.people import ACTIONS_BY_ROLE, Role
from tests.pages.conftest import get_text
from ui.navigation import PAGES


@pytest.mark.parametrize("role", Role)
@pytest.mark.slow
def test_forbidden_page_shows_only_page_not_found(sign_in_as, run_page, role):
    sign_in_as("bert", role)
    denied_pages = [page for page in PAGES if page.action and page.action not in ACTIONS_BY_ROLE[role]]
    assert denied_pages
    for page in denied_pages:
        result = run_page(page.file)
        assert not result.exception
        assert get_text(result) == "Page not found."
