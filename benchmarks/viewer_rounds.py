"""The measurements in the browser: one function per figure, each returning times in milliseconds."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from playwright.sync_api import Page

from benchmarks.viewer_app import Bench, place_of, until

WARM = 2
RATED = "4444yyh"  # four ratings, two checks, the difficulty
#: A browser that is never idle prefetches nothing.
NOTHING_AHEAD = "window.requestIdleCallback = () => 0;"
PLAIN = "localStorage.setItem('overread-viewer', 'plain');"
SETTLED_MS = 900
FETCHED = (
    "performance.getEntriesByType('resource').filter(({name}) => /pixels|radiographs/.test(name)).length"
)


def following(bench: Bench, name: str, repeats: int, *scripts: str) -> list[float]:
    """From the key that accepts a question to the next one's image; the first ones are not counted."""
    times = []
    with bench.review(name, *scripts) as page:
        for turn in range(WARM + repeats):
            _settle(page)
            for key in RATED:
                page.keyboard.press(key)
            page.evaluate("bench.armNext()")
            page.keyboard.press("a")
            times.append(_found(page))
            if turn < WARM:
                times.clear()
    return times


def gaps(bench: Bench, repeats: int, *scripts: str) -> list[float]:
    """The gaps between frames during that many drags of some 60 moves."""
    found: list[float] = []
    frames = changes = 0
    button: Literal["left", "right"]
    with bench.review("hand", *scripts) as page:
        _settle(page)
        for turn in range(repeats + 1):
            if PLAIN in scripts:
                place = place_of(page.get_by_label("Brightness"))
                button, reach = "left", (40.0, 0.0)
            else:
                place = place_of(page.locator(".pane").first)
                button, reach = "right", (160.0, 90.0)
            x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
            page.mouse.move(x, y)
            page.mouse.down(button=button)
            page.mouse.move(x + 2, y + 1)
            page.evaluate("bench.startFrames()")
            for step in range(60):
                share = 1 - abs(step - 30) / 30
                page.mouse.move(x + reach[0] * share, y + reach[1] * share)
            told = page.evaluate("(bench.frames.on = false, bench.frames)")
            page.mouse.up(button=button)
            if turn == 0:
                continue
            times = told["times"]
            found += [after - before for before, after in pairwise(times)]
            frames, changes = frames + len(times), changes + told["changes"]
    print(f"{'':4}{changes} of {frames} frames showed another picture than the one before")
    return found


def keeping(bench: Bench, name: str, repeats: int, *scripts: str) -> list[float]:
    """From the release of the mouse after drawing a box until the form shows that the draft is saved."""
    times = []
    with bench.review(name, *scripts) as page:
        _settle(page)
        place = place_of(page.locator(".pane, .stage .canvas-host").first)
        middle, top = place["x"] + place["width"] / 2, place["y"]
        for turn in range(repeats + 1):
            x, y = middle - 180 + 52 * (turn % 7), top + 36 + 52 * (turn // 7)  # above the machine's box
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + 10, y + 10)
            page.mouse.move(x + 20, y + 20)
            page.evaluate("bench.armKept()")
            page.mouse.up()
            times.append(_found(page))
            page.wait_for_timeout(300)
    return times[1:]


def entering(bench: Bench, repeats: int) -> tuple[list[float], list[float]]:
    """New window, sign-in, click on the page: time from the end of its script to the image, and in all."""
    after_script, after_click = [], []
    for turn in range(repeats + 1):
        with bench.signed_in("entry") as page:
            link = page.get_by_role("link", name="Review", exact=True).first
            link.wait_for()
            page.wait_for_timeout(500)
            page.evaluate("bench.armEntry()")
            link.click()
            shown = _found(page)
            ended = page.evaluate("bench.found.ended")
            if turn:
                after_click.append(shown)
                after_script.append(max(0.0, shown - (shown if ended is None else ended)))
    return after_script, after_click


def _settle(page: Page) -> None:
    """Wait until the image is shown and nothing was fetched for a while, so that prefetching is done."""
    until(page, "bench.isPainted()")
    count = -1
    while True:
        now = page.evaluate(FETCHED)
        if now == count:
            return
        count = now
        page.wait_for_timeout(SETTLED_MS)


def _found(page: Page) -> float:
    until(page, "bench.found.value !== null")
    return float(page.evaluate("bench.found.value"))
