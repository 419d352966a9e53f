"""The reading-room viewer in the real app, in Chromium, on radiographs of 2500 x 3000 pixels of 12 bits.

The run uses a server process, a sign-in by name and password, the review page, a mouse and a keyboard, in a
window of 1440 x 900. The plain editor (streamlit-drawable-canvas) is then measured on the same exams. Targets
for the viewer:

- frame gap while a mouse drags the window: at most 20 ms, 95th percentile at most 34;
- image on screen after the first click on the review page: at most 600 ms after the page's script has ended;
- next question, from the key to its image at full resolution: at most 200 ms if it was prefetched, at most
  450 ms if nothing of it was in the browser;
- release of the mouse after drawing a box, until the form shows that the draft is saved: at most 250 ms.

``python -m benchmarks.viewer [--home FOLDER] [--repeats N] [--port PORT]``. The 24 exams are made once and
kept in FOLDER; without FOLDER they are made for each run, which takes a minute or two, and then deleted.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.viewer_app import Bench, chromium, running
from benchmarks.viewer_rounds import NOTHING_AHEAD, PLAIN, WARM, entering, following, gaps, keeping
from benchmarks.viewer_workspace import EXAMS, prepared

REPEATS = 20
MOST = EXAMS - WARM - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Times in milliseconds, and their targets."""

    name: str
    times: Sequence[float]
    mark: float | None = None
    mark_95: float | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def most_of_them(self) -> float:
        """The 95th percentile."""
        return sorted(self.times)[min(len(self.times) - 1, round(0.95 * len(self.times)))]

    @property
    def is_missed(self) -> bool:
        over = self.mark is not None and self.median > self.mark
        return over or (self.mark_95 is not None and self.most_of_them > self.mark_95)

    def say(self, against: Figure | None = None) -> None:
        mark = "" if self.mark is None else f"<= {self.mark:.0f}"
        mark += "" if self.mark_95 is None else f", p95 <= {self.mark_95:.0f}"
        ratio = "" if against is None else f"{self.median / against.median:5.1f} x"
        missed = "  MISSED" if self.is_missed else ""
        times = f"{self.median:7.1f} {self.most_of_them:7.1f}"
        print(f"{self.name:52} {times}   {mark:18}{ratio}{missed}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--home", type=Path, help="folder in which the made workspace is kept")
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"{REPEATS}; {MOST} at most")
    parser.add_argument("--port", type=int, default=8599, help="for the app's server")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = (args.home or Path(temporary)).resolve()
        home.mkdir(parents=True, exist_ok=True)
        prepared(home)
        with running(home, args.port) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium(), args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
            )
            load = os.getloadavg()[0]
            print(f"Chromium {browser.version}, medians of {args.repeats}")
            print(f"load {load:.1f} on {os.cpu_count()} cores")
            missed = measure(Bench(browser=browser, address=address), min(args.repeats, MOST))
            print(f"load at the end {os.getloadavg()[0]:.1f}")
            browser.close()
    return int(missed)


def measure(bench: Bench, repeats: int) -> bool:
    """Print all figures; return whether a target is missed."""
    print(f"\n{'milliseconds':52} {'median':>7} {'p95':>7}   mark")
    # Measured first, while the server's cache is empty too.
    Figure(
        name="next question, cold, its file never read before",
        times=following(bench, "first", repeats, NOTHING_AHEAD),
    ).say()
    cold = Figure(
        name="next question, cold", times=following(bench, "cold", repeats, NOTHING_AHEAD), mark=450
    )
    cold.say()
    ahead = Figure(name="next question, fetched ahead", times=following(bench, "ahead", repeats), mark=200)
    ahead.say()
    gap = Figure(name="frame gap, the window dragged", times=gaps(bench, repeats), mark=20, mark_95=34)
    gap.say()
    kept = Figure(
        name="mouse let go until the draft is kept", times=keeping(bench, "hand", repeats), mark=250
    )
    kept.say()
    after_script, after_click = entering(bench, repeats)
    entry = Figure(name="image after the page's script has ended", times=after_script, mark=600)
    entry.say()
    Figure(name="image after the click that opens the page", times=after_click).say()
    print("\nthe plain editor, a picture of 8 bits and 1600 pixels; x: so many times as long as the viewer")
    Figure(name="next question, fetched ahead", times=following(bench, "plain", repeats, PLAIN)).say(ahead)
    Figure(name="frame gap, its brightness dragged", times=gaps(bench, repeats, PLAIN)).say(gap)
    Figure(
        name="mouse let go until the draft is kept", times=keeping(bench, "plainhand", repeats, PLAIN)
    ).say(kept)
    return any(figure.is_missed for figure in (cold, ahead, gap, kept, entry))


if __name__ == "__main__":
    sys.exit(main())
