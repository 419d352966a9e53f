"""The full viewer in the browser: how to open it, and the window position of a pixel of the matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from playwright.sync_api import Locator, Page

from tests.e2e.review_helpers import COLUMNS, ROWS, wait_for_images


@dataclass(frozen=True, kw_only=True)
class PanePosition:
    """The position of a pane in the window, and its scale when the whole image is visible."""

    left: float
    top: float
    width: float
    height: float
    rotated: bool = False

    @property
    def zoom(self) -> float:
        image_width, image_height = (ROWS, COLUMNS) if self.rotated else (COLUMNS, ROWS)
        return min(self.width / image_width, self.height / image_height)

    def of_pixel(self, x: float, y: float) -> tuple[float, float]:
        """The window position of a pixel of the matrix; rotated means turned by 90 degrees to the right."""
        dx, dy = (x - COLUMNS / 2) * self.zoom, (y - ROWS / 2) * self.zoom
        if self.rotated:
            dx, dy = -dy, dx
        return self.left + self.width / 2 + dx, self.top + self.height / 2 + dy

    def to_pixel(self, left: float, top: float) -> tuple[float, float]:
        """The inverse of :meth:`of_pixel`."""
        dx = (left - self.left - self.width / 2) / self.zoom
        dy = (top - self.top - self.height / 2) / self.zoom
        if self.rotated:
            dx, dy = dy, -dx
        return COLUMNS / 2 + dx, ROWS / 2 + dy


def open_viewer(page: Page, question: int) -> Page:
    """Open the review page of a question, and wait until its radiograph is painted."""
    page.goto(f"/review?batch=1&question={question}")
    wait_until_painted(page)
    return page


def measure_narrow_height(page: Page) -> float:
    """The height of the image in a window of 760 pixels; the window is restored afterwards."""
    old_size = page.viewport_size
    page.set_viewport_size({"width": 760, "height": 900})
    page.locator(".judging.narrow").wait_for()
    height = page.locator(".pane").first.bounding_box()["height"]
    page.set_viewport_size(old_size)
    return height


def wait_until_painted(page: Page) -> None:
    """Wait until the first pane shows its zoom, and all images are loaded."""
    find_status_line(page).filter(has_text="%").wait_for(timeout=30_000)
    wait_for_images(page)


def find_status_line(page: Page) -> Locator:
    """The status line of the radiograph in front: zoom, window, and value under the pointer."""
    return page.locator(".pane .status").first


def get_pane_position(page: Page, index: int = 0, *, rotated: bool = False) -> PanePosition:
    """The position of that pane."""
    box = page.locator(".pane").nth(index).bounding_box()
    assert box is not None
    return PanePosition(
        left=box["x"], top=box["y"], width=box["width"], height=box["height"], rotated=rotated
    )


def drag(
    page: Page,
    start: tuple[float, float],
    end: tuple[float, float],
    button: Literal["left", "right"] = "left",
) -> None:
    """Press, move in two steps, release."""
    page.mouse.move(*start)
    page.mouse.down(button=button)
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    page.mouse.move(*end)
    page.mouse.up(button=button)


def draw_box(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw a box, and leave it without a label."""
    drag(page, start, end)
    page.get_by_label("Label of the box", exact=True).press("Escape")


def sample_grey_levels(page: Page, index: int = 0) -> list[int]:
    """Grey levels of the middle row of the painted image, every twentieth column."""
    return (
        page.locator(".pane canvas.image")
        .nth(index)
        .evaluate(
            """canvas => {
             const row = canvas.getContext('2d').getImageData(0, canvas.height >> 1, canvas.width, 1).data;
             return Array.from({length: Math.floor(canvas.width / 20)}, (_, index) => row[80 * index]);
           }"""
        )
    )
