"""The role table decides which pages there are for whom."""

import pytest

from domain.people import ALLOWED, Action, Person, Role
from ui.navigation import PAGES, pages_for


def person(*roles: Role) -> Person:
    return Person(id=1, name="anna", display_name="Anna", roles=frozenset(roles))


@pytest.mark.parametrize("role", Role)
def test_a_role_sees_exactly_the_pages_of_its_actions(role):
    seen = {page.action for page in pages_for(person(role)) if page.action}
    assert seen == ALLOWED[role]


def test_every_action_has_its_page():
    assert {page.action for page in PAGES if page.action} == set(Action)


def test_a_reader_sees_home_and_read():
    assert [page.title for page in pages_for(person(Role.READER))] == ["Home", "Read", "My account"]


def test_a_reviewer_sees_home_review_and_the_disputes():
    titles = [page.title for page in pages_for(person(Role.REVIEWER))]
    assert titles == ["Home", "Review", "Settle disputes", "My account"]


def test_a_coordinator_sees_the_way_of_the_work_from_left_to_right():
    assert [page.title for page in pages_for(person(Role.COORDINATOR))] == [
        "Home", "Import", "Checks", "Browse", "Statistics", "Patient data", "Draw a batch", "Batches",
        "Progress", "Agreement", "Attention", "What the sample says", "Releases", "Reader studies",
        "Audit trail", "My account",
    ]  # fmt: skip


def test_several_roles_see_the_pages_of_all():
    titles = [page.title for page in pages_for(person(*Role))]
    assert titles == [page.title for page in PAGES]
