"""What is done on pages before their pictures are taken."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

_CASE = "cannot determine from this exam"  # stands on every case


def press(name: str, then: str) -> Callable[[Page], None]:
    """Click on that text, and wait for the other one."""

    def pressed(page: Page) -> None:
        page.get_by_text(name, exact=True).first.click()
        page.get_by_text(then).first.wait_for(timeout=30_000)
        page.wait_for_timeout(2500)  # a chart is drawn

    return pressed


def begin_reading(page: Page) -> None:
    """Past the guideline, where it was not read for the picture before, to a case with its image drawn."""
    page.get_by_text("I have read it").or_(page.get_by_text(_CASE)).first.wait_for()
    button = page.get_by_role("button", name="I have read it: begin")
    if button.count():
        button.click()
    page.get_by_text(_CASE).first.wait_for(timeout=30_000)
    page.wait_for_timeout(4000)
    page.keyboard.press("b")
    page.wait_for_timeout(500)


def wait_for_wall(page: Page) -> None:
    """Until the first image of the wall of patient data is drawn."""
    page.wait_for_function(
        "document.querySelector('img[alt=\"image 1\"]')?.naturalWidth > 100", timeout=30_000
    )
    page.wait_for_timeout(1500)  # the others
