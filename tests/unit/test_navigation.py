"""The role table determines the pages of each person."""

import pytest

from domain.people import ACTIONS_BY_ROLE, Action, Person, Role
from ui.navigation import ACTIONS_WITHIN_PAGES, PAGES, Stage, group_pages_by_stage, list_permitted_pages


def make_person(*roles: Role) -> Person:
    return Person(id=1, name="anna", display_name="Anna", roles=frozenset(roles))


@pytest.mark.parametrize("role", Role)
def test_a_role_sees_exactly_the_pages_of_its_actions(role):
    visible_actions = {page.action for page in list_permitted_pages(make_person(role)) if page.action}
    assert visible_actions | (ACTIONS_WITHIN_PAGES & ACTIONS_BY_ROLE[role]) == ACTIONS_BY_ROLE[role]


def test_every_action_has_its_page():
    assert {page.action for page in PAGES if page.action} | ACTIONS_WITHIN_PAGES == set(Action)


def test_a_reader_sees_home_errata_read_and_my_account():
    assert [page.title for page in list_permitted_pages(make_person(Role.READER))] == [
        "Home",
        "Errata",
        "Read",
        "My account",
    ]


def test_a_submitter_sees_home_leaderboards_and_my_account():
    titles = [page.title for page in list_permitted_pages(make_person(Role.SUBMITTER))]
    assert titles == ["Home", "Leaderboards", "My account"]


def test_a_reviewer_sees_the_pages_for_judging_and_marking():
    titles = [page.title for page in list_permitted_pages(make_person(Role.REVIEWER))]
    assert titles == [
        "Home",
        "Review",
        "Adjudicate",
        "Errata",
        "Mark study answers",
        "Score model outputs",
        "My account",
    ]


def test_a_coordinator_sees_the_stages_in_workflow_order():
    pages = group_pages_by_stage(make_person(Role.COORDINATOR))
    assert {stage.value: [page.title for page in stage_pages] for stage, stage_pages in pages.items()} == {
        "": ["Home", "My account"],
        "Data": [
            "Import",
            "Generate",
            "Checks",
            "Near-duplicates",
            "Compliance",
            "Taxonomy",
            "Browse",
            "Statistics",
            "Patient data",
        ],
        "Review": ["Draw a batch", "Batches", "Progress"],
        "Results": ["Agreement", "Reviewer attention", "Dataset estimates", "Releases", "Errata"],
        "Studies": ["Reader studies"],
        "Models": [
            "Evaluations",
            "Model scores",
            "Leaderboards",
            "Model runs",
            "Prompts",
            "Prompt bench",
        ],
        "Administration": ["Audit trail"],
    }


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.READER, Role.SUBMITTER, Role.ADMIN])
def test_a_short_navigation_has_no_headings(role):
    assert group_pages_by_stage(make_person(role)) == {Stage.NONE: list_permitted_pages(make_person(role))}


def test_every_page_is_under_one_heading():
    grouped = [
        page for stage_pages in group_pages_by_stage(make_person(*Role)).values() for page in stage_pages
    ]
    assert sorted(page.file for page in grouped) == sorted(page.file for page in PAGES)


def test_a_person_with_several_roles_sees_the_pages_of_each():
    titles = [page.title for page in list_permitted_pages(make_person(*Role))]
    assert titles == [page.title for page in PAGES]
