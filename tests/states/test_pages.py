"""Every page opens in every state of a workspace, for everybody who may open it, with every choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from streamlit.runtime.state.common import TESTING_KEY
from streamlit.testing.v1 import AppTest

from accounts import service as accounts
from domain.access import ACTIONS_BY_ROLE
from domain.people import Role
from storage.unit_of_work import read_only_session
from tests.pages.conftest import PAGE_TIMEOUT, ROOT, get_text
from tests.states.workspaces import PEOPLE, STATES, State, to_parameters
from ui.navigation import HOME, PAGES, list_permitted_pages

pytestmark = pytest.mark.slow

#: Each state of a dataset alone, and the states in which a second dataset changes the services' result.
TESTED_STATES = (
    *(State(name=name) for name in STATES),
    State(name="nothing", second_dataset_state="drawn"),
    State(name="imported", second_dataset_state="reported"),
    State(name="drawn", second_dataset_state="imported"),
    State(name="partly judged", second_dataset_state="drawn"),
    State(name="disputed", second_dataset_state="reported"),
    State(name="released", second_dataset_state="drawn"),
    State(name="partly read", second_dataset_state="study made"),
)
#: Remo and Rob see the same as Ruth and Rea, one state later.
TESTED_PEOPLE = ("ada", "cora", "ruth", "rita", "rea", "sue")
#: Widgets whose choice changes the whole page.
SUBJECT_LABELS = {"Dataset", "Batch", "Study"}
#: Widgets that switch to another part of a page, the inner ones first. The switches of charts are left out.
VIEW_LABELS = ("Location of the files", "Search in", "Part", "View")
#: Parts of a page that are slow and read nothing from the workspace.
OPTIONS_WITHOUT_DATA = {"Sample size"}
#: Elements that do not count as content: the page's frame, and text that is counted separately.
FRAME_TYPES = {"vertical", "horizontal", "flex_container", "column", "title", "markdown", "caption"}


def open_all_pages(name: str) -> Iterator[tuple[str, AppTest]]:
    """Each page of the person's navigation, as opened and after each choice, with a description."""
    page = AppTest.from_file(str(ROOT / "ui" / "shell.py"), default_timeout=PAGE_TIMEOUT).run()
    with read_only_session() as db:
        person = accounts.load_person_by_name(db, name=name)
    for entry in list_permitted_pages(person):
        if entry is not HOME:
            page.switch_page(str(entry.path)).run()
        yield f"{name}, {entry.file}", page
        yield from (
            (f"{name}, {entry.file}, {choice}", page)
            for choice in choose_each_option(page)
            if not find_faults(page)
        )


def choose_each_option(page: AppTest) -> Iterator[str]:
    """Run the page with each dataset, batch or study that it offers, in each of its views."""
    yield from choose_each_subject(page)
    for label in VIEW_LABELS:
        for option in list_options(page.button_group, label):
            group = next((group for group in page.button_group if group.label == label), None)
            if group is not None and option not in OPTIONS_WITHOUT_DATA:
                choose_option(page, group, option)
                yield option
                yield from choose_each_subject(page)


def choose_each_subject(page: AppTest) -> Iterator[str]:
    """Run the page with each dataset, batch or study that it offers; not at all if it offers only one."""
    for label in sorted({box.label for box in page.selectbox} & SUBJECT_LABELS):
        options = list_options(page.selectbox, label)
        for option in options if len(options) > 1 else ():
            box = next((box for box in page.selectbox if box.label == label), None)
            if box is not None:
                choose_option(page, box, option)
                yield f"{label} {option}"


def list_options(widgets: Iterable[Any], label: str) -> list[str]:
    return next((widget.options for widget in widgets if widget.label == label), [])


def choose_option(page: AppTest, widget: Any, option: str) -> None:
    """Choose an option by its text, as a browser does; AppTest would format it a second time."""
    page.session_state[TESTING_KEY][widget.id] = str
    widget.set_value(option).run()


def find_faults(page: AppTest) -> list[str]:
    """What is wrong with the page: an error, or no content and no next step."""
    messages = [element.value for kind in (page.exception, page.error) for element in kind]
    element_types = [element.type for element in iterate_elements(page.main)]
    sentences = sum(kind in {"markdown", "caption"} for kind in element_types)
    if sentences < 2 and not set(element_types) - FRAME_TYPES:
        messages.append(f"the page says nothing: {get_text(page)!r}")
    return messages


def iterate_elements(block) -> Iterator:
    """All elements of a page inside that block."""
    for child in getattr(block, "children", {}).values():
        yield child
        yield from iterate_elements(child)


@pytest.mark.full
@pytest.mark.parametrize("state", to_parameters(TESTED_STATES))
def test_every_page_opens_with_content_in_every_state(
    state: State, workspace_in: Callable[[State], object], sign_in: Callable[[str], object]
):
    workspace_in(state)
    faults_by_page: dict[str, Any] = {}
    for name in TESTED_PEOPLE:
        sign_in(name)
        faults_by_page |= {
            page_name: page_faults
            for page_name, page in open_all_pages(name)
            if (page_faults := find_faults(page))
        }
    assert faults_by_page == {}


def test_the_tested_people_may_open_every_page():
    roles = {PEOPLE[name] for name in TESTED_PEOPLE}
    assert roles == set(Role)
    allowed = {action for role in roles for action in ACTIONS_BY_ROLE[role]}
    assert all(page.action is None or page.action in allowed for page in PAGES)
