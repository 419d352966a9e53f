"""The steps on a page before its picture is taken."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

_CASE_TEXT = "Cannot be determined from this exam"  # shown on every case


def click_and_wait(name: str, expected_text: str) -> Callable[[Page], None]:
    """Click on the text ``name``, and wait for ``expected_text``."""

    def step(page: Page) -> None:
        page.get_by_text(name, exact=True).first.click()
        page.get_by_text(expected_text).first.wait_for(timeout=30_000)
        page.wait_for_timeout(2500)  # until the chart is drawn

    return step


def open_report(section: str = "Accuracy") -> Callable[[Page], None]:
    """Open a section of the simulated study's report. Create the report if it does not exist."""

    def step(page: Page) -> None:
        page.get_by_text("Report", exact=True).first.click()
        create_button = page.get_by_role("button", name="Create report")
        create_button.or_(page.get_by_text("All files (ZIP)")).first.wait_for(timeout=30_000)
        if create_button.count():
            create_button.click()
        page.get_by_text("All files (ZIP)").wait_for(timeout=180_000)
        # In the main part of the page, not in the navigation.
        section_button = page.get_by_test_id("stMain").get_by_text(section, exact=True).first
        if section != "Accuracy":  # it is selected from the start; a click would deselect it
            section_button.click()
        page.wait_for_timeout(3000)  # until the charts are drawn
        section_button.scroll_into_view_if_needed()
        page.mouse.move(720, 500)
        page.mouse.wheel(0, 420)
        page.wait_for_timeout(500)

    return step


def begin_reading(page: Page) -> None:
    """Close the guideline, if it is shown, and select an answer on a case with its image drawn."""
    page.get_by_text("Start reading").or_(page.get_by_text(_CASE_TEXT)).first.wait_for()
    button = page.get_by_role("button", name="Start reading")
    if button.count():
        button.click()
    page.get_by_text(_CASE_TEXT).first.wait_for(timeout=30_000)
    page.wait_for_timeout(4000)
    page.keyboard.press("2")
    page.wait_for_timeout(500)


def wait_for_image_grid(page: Page) -> None:
    """Wait until the first image on the page of patient data is drawn."""
    page.wait_for_function(
        "document.querySelector('img[alt=\"image 1\"]')?.naturalWidth > 100", timeout=30_000
    )
    page.wait_for_timeout(1500)  # until the other images are drawn


def correct_question(page: Page) -> None:
    """Change the explanation and rate it. The draft of an earlier picture may already contain the change."""
    explanation = page.get_by_label("Explanation", exact=True)
    addition = "; the heart is best seen on the PA radiograph."
    old_explanation = explanation.input_value().removesuffix(addition).rstrip(".")
    explanation.fill(f"{old_explanation}{addition}")
    page.keyboard.press("Escape")
    for key in "5355yym":
        page.keyboard.press(key)
    page.wait_for_timeout(700)


def rate_question(page: Page) -> None:
    """Give all four ratings."""
    for key in "5554":
        page.keyboard.press(key)


def show_lateral(page: Page) -> None:
    """Show the lateral radiograph."""
    page.get_by_role("button", name="LATERAL").first.click()
    page.wait_for_timeout(900)


def open_guideline(page: Page) -> None:
    """Open the guideline over the page."""
    page.get_by_role("button", name="Guideline").first.click()
    page.get_by_role("dialog").wait_for()
