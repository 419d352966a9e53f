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
from tests.pages.conftest import ROOT, SLOW, texts
from tests.states.workspaces import PEOPLE, STATES, State
from ui.navigation import HOME, PAGES, list_permitted_pages

pytestmark = pytest.mark.slow

#: Each state of a dataset alone, and the states in which a second dataset changes the services' result.
STATES_TO_OPEN = (
    *(State(name=name) for name in STATES),
    State(name="nothing", beside="drawn"),
    State(name="imported", beside="reported"),
    State(name="drawn", beside="imported"),
    State(name="partly judged", beside="drawn"),
    State(name="disputed", beside="reported"),
    State(name="released", beside="drawn"),
    State(name="partly read", beside="study made"),
)
#: Remo and Rob see the same as Ruth and Rea, one state later.
WHO = ("ada", "cora", "ruth", "rita", "rea")
#: Widgets whose choice changes the whole page.
SUBJECTS = {"Dataset", "Batch", "Study"}
#: Widgets that switch to another part of a page, the inner one first; those of a chart keep its figures.
VIEWS = ("Location of the files", "Search in", "Part", "View")
#: Parts of a page that are slow and read nothing from the workspace.
NEED_NO_DATA = {"Plan"}
#: Elements that do not count as content: the page's frame, and text that is counted separately.
FRAMES = {"vertical", "horizontal", "flex_container", "column", "title", "markdown", "caption"}


def open_all(name: str) -> Iterator[tuple[str, AppTest]]:
    """Each page of the person's navigation, as opened and with each choice on it; what was chosen."""
    page = AppTest.from_file(str(ROOT / "ui" / "shell.py"), default_timeout=SLOW).run()
    with read_only_session() as db:
        person = accounts.load_person_by_name(db, name=name)
    for entry in list_permitted_pages(person):
        if entry is not HOME:
            page.switch_page(str(entry.path)).run()
        yield f"{name}, {entry.file}", page
        yield from (
            (f"{name}, {entry.file}, {chosen}", page) for chosen in choose_each(page) if not faults(page)
        )


def choose_each(page: AppTest) -> Iterator[str]:
    """Run the page with each dataset, batch or study that it offers, in each of its views."""
    yield from choose_each_subject(page)
    for label in VIEWS:
        for option in options_of(page.button_group, label):
            group = next((group for group in page.button_group if group.label == label), None)
            if group is not None and option not in NEED_NO_DATA:
                choose(page, group, option)
                yield option
                yield from choose_each_subject(page)


def choose_each_subject(page: AppTest) -> Iterator[str]:
    """Run the page with each dataset, batch or study that it offers; not at all if it offers only one."""
    for label in sorted({box.label for box in page.selectbox} & SUBJECTS):
        options = options_of(page.selectbox, label)
        for option in options if len(options) > 1 else ():
            box = next((box for box in page.selectbox if box.label == label), None)
            if box is not None:
                choose(page, box, option)
                yield f"{label} {option}"


def options_of(widgets: Iterable[Any], label: str) -> list[str]:
    return next((widget.options for widget in widgets if widget.label == label), [])


def choose(page: AppTest, widget: Any, option: str) -> None:
    """Choose an option by its text, as a browser does; AppTest would format it a second time."""
    page.session_state[TESTING_KEY][widget.id] = str
    widget.set_value(option).run()


def faults(page: AppTest) -> list[str]:
    """What is wrong with the page: an error, or no content and no next step."""
    found = [element.value for kind in (page.exception, page.error) for element in kind]
    shown = [element.type for element in elements(page.main)]
    sentences = sum(kind in {"markdown", "caption"} for kind in shown)
    if sentences < 2 and not set(shown) - FRAMES:
        found.append(f"the page says nothing: {texts(page)!r}")
    return found


def elements(block) -> Iterator:
    """All elements of a page inside that block."""
    for child in getattr(block, "children", {}).values():
        yield child
        yield from elements(child)


@pytest.mark.parametrize("state", STATES_TO_OPEN, ids=str)
def test_every_page_opens_and_says_something(
    state: State, workspace_in: Callable[[State], object], sign_in: Callable[[str], object]
):
    workspace_in(state)
    found: dict[str, Any] = {}
    for name in WHO:
        sign_in(name)
        found |= {what: wrong for what, page in open_all(name) if (wrong := faults(page))}
    assert found == {}


def test_somebody_opens_each_page_of_the_table():
    roles = {PEOPLE[name] for name in WHO}
    assert roles == set(Role)
    allowed = {action for role in roles for action in ACTIONS_BY_ROLE[role]}
    assert all(page.action is None or page.action in allowed for page in PAGES)
