"""Helpers for Streamlit's pages: waiting, choosing options, pressing keys, and screenshots."""

import os
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Locator, Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout


def wait_for_script(page: Page) -> None:
    """Wait until the script of the page has ended, at most 30 seconds.

    Before that, the script may close an open list, keys may not be bound yet, and the page may be incomplete.
    """
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(timeout=30_000)


def choose_option(page: Page, field: Locator, option: str, *, several: bool = False) -> None:
    """Choose an option of a list. A run of the script closes the list, so it is opened again if necessary.

    A list of several values stays open; in a list of one value, Escape would remove the choice.
    """
    choice = page.get_by_role("option", name=option).first
    for _ in range(6):
        wait_for_script(page)
        field.click(timeout=30_000)
        with suppress(PlaywrightTimeout):
            choice.click(timeout=5_000)
            if several:
                page.keyboard.press("Escape")
            wait_for_script(page)
            return
    raise AssertionError(f"the list has no option {option}")


def press_key(page: Page, key: str) -> None:
    """Press a key once it is bound: Streamlit binds the keys of its buttons some time after it draws them."""
    wait_for_script(page)
    page.wait_for_function(
        "key => hotkeys.getAllKeyCodes().some(({shortcut}) => shortcut === key)",
        arg=key.removeprefix("Arrow").lower(),
        timeout=30_000,
    )
    # The keys of the buttons that were just drawn replace the previous keys after the next frame.
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    page.keyboard.press(key)


def wait_for_radiographs(page: Page) -> None:
    """Wait until the radiographs beside the answer are drawn."""
    page.wait_for_function(
        """() => {
            const images = [...document.querySelectorAll('img[alt^="radiograph"]')]
            return images.length > 0 && images.every(image => image.naturalWidth > 0)
        }""",
        timeout=30_000,
    )


def take_screenshot(page: Page, name: str) -> None:
    """Save a screenshot of the page, if OVERREAD_SCREENSHOTS names a folder."""
    if folder := os.environ.get("OVERREAD_SCREENSHOTS"):
        page.wait_for_timeout(600)
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
