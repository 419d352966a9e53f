"""The measurements in the browser. Each function returns times in milliseconds."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from playwright.sync_api import Page

from benchmarks.viewer_app import ViewerBench, bounding_box, wait_until

WARM_UP = 2
RATING_KEYS = "4444yyh"  # four ratings, two yes/no fields, the difficulty
#: A browser that is never idle prefetches nothing.
NO_PREFETCH_SCRIPT = "window.requestIdleCallback = () => 0;"
PLAIN_EDITOR_SCRIPT = "localStorage.setItem('overread-viewer', 'plain');"
SETTLED_MS = 900
FETCHED_COUNT_SCRIPT = (
    "performance.getEntriesByType('resource').filter(({name}) => /pixels|radiographs/.test(name)).length"
)


def time_next_question(bench: ViewerBench, name: str, repeats: int, *scripts: str) -> list[float]:
    """Measure from the key that accepts a question to the next image; the first WARM_UP are not counted."""
    times = []
    with bench.open_review(name, *scripts) as page:
        for round_number in range(WARM_UP + repeats):
            _wait_until_settled(page)
            for key in RATING_KEYS:
                page.keyboard.press(key)
            page.evaluate("bench.measureNextQuestion()")
            page.keyboard.press("a")
            times.append(_read_result(page))
            if round_number < WARM_UP:
                times.clear()
    return times


def measure_frame_gaps(bench: ViewerBench, repeats: int, *scripts: str) -> list[float]:
    """Measure the times between frames during drags of about 60 moves each."""
    frame_gaps: list[float] = []
    frames = changes = 0
    button: Literal["left", "right"]
    with bench.open_review("hand", *scripts) as page:
        _wait_until_settled(page)
        for round_number in range(repeats + 1):
            if PLAIN_EDITOR_SCRIPT in scripts:
                target_box = bounding_box(page.get_by_label("Brightness"))
                button, drag_distance = "left", (40.0, 0.0)
            else:
                target_box = bounding_box(page.locator(".pane").first)
                button, drag_distance = "right", (160.0, 90.0)
            x, y = target_box["x"] + target_box["width"] / 2, target_box["y"] + target_box["height"] / 2
            page.mouse.move(x, y)
            page.mouse.down(button=button)
            page.mouse.move(x + 2, y + 1)
            page.evaluate("bench.startFrames()")
            for step in range(60):
                share = 1 - abs(step - 30) / 30
                page.mouse.move(x + drag_distance[0] * share, y + drag_distance[1] * share)
            frame_data = page.evaluate("(bench.frames.on = false, bench.frames)")
            page.mouse.up(button=button)
            if round_number == 0:
                continue
            times = frame_data["times"]
            frame_gaps += [after - before for before, after in pairwise(times)]
            frames, changes = frames + len(times), changes + frame_data["changes"]
    print(f"{'':4}{changes} of {frames} frames had a new image")
    return frame_gaps


def time_draft_save(bench: ViewerBench, name: str, repeats: int, *scripts: str) -> list[float]:
    """Measure from releasing the mouse after drawing a box until the form shows that the draft is saved."""
    times = []
    with bench.open_review(name, *scripts) as page:
        _wait_until_settled(page)
        image_box = bounding_box(page.locator(".pane, .stage .canvas-host").first)
        middle, top = image_box["x"] + image_box["width"] / 2, image_box["y"]
        for round_number in range(repeats + 1):
            x, y = (
                middle - 180 + 52 * (round_number % 7),
                top + 36 + 52 * (round_number // 7),
            )  # above the question's box
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + 10, y + 10)
            page.mouse.move(x + 20, y + 20)
            page.evaluate("bench.measureDraftSave()")
            page.mouse.up()
            times.append(_read_result(page))
            page.wait_for_timeout(300)
    return times[1:]


def time_entry(bench: ViewerBench, repeats: int) -> tuple[list[float], list[float]]:
    """Measure the time to the image in a new window, from the end of the page's script and from the click."""
    after_script, after_click = [], []
    for round_number in range(repeats + 1):
        with bench.open_signed_in("entry") as page:
            link = page.get_by_role("link", name="Review", exact=True).first
            link.wait_for()
            page.wait_for_timeout(500)
            page.evaluate("bench.measureEntry()")
            link.click()
            shown_after = _read_result(page)
            script_ended_after = page.evaluate("bench.result.scriptEnded")
            if round_number:
                after_click.append(shown_after)
                after_script.append(
                    max(
                        0.0, shown_after - (shown_after if script_ended_after is None else script_ended_after)
                    )
                )
    return after_script, after_click


def _wait_until_settled(page: Page) -> None:
    """Wait until the image is shown and prefetching is done, which means that nothing is fetched any more."""
    wait_until(page, "bench.isPainted()")
    previous_count = -1
    while True:
        fetched_count = page.evaluate(FETCHED_COUNT_SCRIPT)
        if fetched_count == previous_count:
            return
        previous_count = fetched_count
        page.wait_for_timeout(SETTLED_MS)


def _read_result(page: Page) -> float:
    wait_until(page, "bench.result.value !== null")
    return float(page.evaluate("bench.result.value"))
