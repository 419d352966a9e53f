"""Every page fits windows from 1024 to 2560 pixels: no text is cut, and sign-out is in sight."""

import pytest
from playwright.sync_api import Page, expect

from domain.people import Role
from tests.e2e.conftest import RunningApp
from tests.e2e.layout_helpers import FIND_FAULTS, WINDOWS
from tests.e2e.streamlit_pages import wait_for_script
from tests.storage.study_worlds import make_study_world
from ui.navigation import PAGES

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module")
def coordinator(app: RunningApp) -> str:
    """A coordinator of a workspace with a batch and a study."""
    make_study_world(app.engine, readers=["rea"])
    app.add_person("everybody", Role.COORDINATOR, Role.ADMIN)
    return "everybody"


@pytest.mark.parametrize(("width", "height"), WINDOWS.items())
def test_no_text_is_cut_in_a_window(coordinator, signed_in, width, height):
    page: Page = signed_in(coordinator)
    page.set_viewport_size({"width": width, "height": height})
    faults = {}
    for app_page in PAGES:
        if app_page.path.stem in {"review", "adjudicate", "read"}:  # forms with tests of their own
            continue
        page.goto("/" if app_page.path.stem == "home" else f"/{app_page.path.stem}")
        page.get_by_role("heading", level=1).first.wait_for(timeout=30_000)
        wait_for_script(page)
        page.wait_for_timeout(1000)  # tables and charts are drawn
        if page_faults := page.evaluate(FIND_FAULTS):
            faults[app_page.title] = page_faults
    assert faults == {}


def test_text_is_larger_on_a_large_screen(coordinator, signed_in):
    page: Page = signed_in(coordinator)
    page.goto("/")
    page.get_by_role("button", name="Sign out").wait_for(timeout=30_000)
    wait_for_script(page)
    sizes = []
    for width, height in WINDOWS.items():
        page.set_viewport_size({"width": width, "height": height})
        sizes.append(page.evaluate("getComputedStyle(document.documentElement).fontSize"))
    assert sizes == ["15px", "15px", "16px", "20px"]


def test_labels_of_a_chart_follow_the_theme(coordinator, signed_in):
    page: Page = signed_in(coordinator)
    page.goto("/sampling")
    label = page.locator(".vega-embed svg .role-axis-label text").first
    label.wait_for(timeout=30_000)
    page.emulate_media(color_scheme="light")
    expect(label).to_have_css("fill", "rgb(16, 20, 23)")
    page.emulate_media(color_scheme="dark")
    expect(label).to_have_css("fill", "rgb(217, 222, 226)")
