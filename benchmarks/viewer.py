"""Measures the radiograph viewer in the real app in Chromium, with radiographs of 2500 x 3000 12-bit pixels.

A server process runs, and a person signs in and uses the review page with mouse and keyboard in a window of
1440 x 900. Then the basic editor (streamlit-drawable-canvas) is measured with the same exams. Targets for the
viewer:

- time between frames while the mouse drags window width and level: at most 20 ms, 95th percentile at most 34;
- image on screen after the first click on the review page: at most 600 ms after the page's script has ended;
- next question, from the key to its image at full resolution: at most 200 ms if it was prefetched, at most
  450 ms if nothing was prefetched;
- from releasing the mouse after drawing a box until the form shows that the draft is saved: at most 250 ms.

Run ``python -m benchmarks.viewer [--home FOLDER] [--repeats N] [--port PORT]``. The 24 exams are made once
and kept in FOLDER. Without FOLDER, they are made for each run, which takes a minute or two, and then deleted.
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

from benchmarks.viewer_app import ViewerBench, find_chromium, run_app
from benchmarks.viewer_measurements import (
    NO_PREFETCH_SCRIPT,
    PLAIN_EDITOR_SCRIPT,
    WARM_UP,
    measure_frame_gaps,
    time_draft_save,
    time_entry,
    time_next_question,
)
from benchmarks.viewer_workspace import EXAMS, prepare_workspace

REPEATS = 20
MAX_REPEATS = EXAMS - WARM_UP - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingResult:
    """Measured times in milliseconds, and their targets."""

    name: str
    times: Sequence[float]
    target: float | None = None
    target_95: float | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def percentile_95(self) -> float:
        """The 95th percentile of the times."""
        return sorted(self.times)[min(len(self.times) - 1, round(0.95 * len(self.times)))]

    @property
    def is_missed(self) -> bool:
        median_missed = self.target is not None and self.median > self.target
        return median_missed or (self.target_95 is not None and self.percentile_95 > self.target_95)

    def print_line(self, baseline: TimingResult | None = None) -> None:
        target_text = "" if self.target is None else f"<= {self.target:.0f}"
        target_text += "" if self.target_95 is None else f", p95 <= {self.target_95:.0f}"
        ratio = "" if baseline is None else f"{self.median / baseline.median:5.1f} x"
        missed_note = "  MISSED" if self.is_missed else ""
        times = f"{self.median:7.1f} {self.percentile_95:7.1f}"
        print(f"{self.name:52} {times}   {target_text:18}{ratio}{missed_note}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--home", type=Path, help="folder in which the generated workspace is kept")
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"{REPEATS}; {MAX_REPEATS} at most")
    parser.add_argument("--port", type=int, default=8599, help="for the app's server")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = (args.home or Path(temporary)).resolve()
        home.mkdir(parents=True, exist_ok=True)
        prepare_workspace(home)
        with run_app(home, args.port) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
            )
            load = os.getloadavg()[0]
            print(f"Chromium {browser.version}, medians of {args.repeats}")
            print(f"load {load:.1f} on {os.cpu_count()} cores")
            is_missed = measure_viewer(
                ViewerBench(browser=browser, address=address), min(args.repeats, MAX_REPEATS)
            )
            print(f"load at the end {os.getloadavg()[0]:.1f}")
            browser.close()
    return int(is_missed)


def measure_viewer(bench: ViewerBench, repeats: int) -> bool:
    """Print all results; return whether a target is missed."""
    print(f"\n{'milliseconds':52} {'median':>7} {'p95':>7}   target")
    # Measured first, while the server's cache is empty too.
    TimingResult(
        name="next question, cold, its file never read before",
        times=time_next_question(bench, "first", repeats, NO_PREFETCH_SCRIPT),
    ).print_line()
    cold_result = TimingResult(
        name="next question, cold",
        times=time_next_question(bench, "cold", repeats, NO_PREFETCH_SCRIPT),
        target=450,
    )
    cold_result.print_line()
    prefetched_result = TimingResult(
        name="next question, prefetched", times=time_next_question(bench, "ahead", repeats), target=200
    )
    prefetched_result.print_line()
    gap_result = TimingResult(
        name="frame gap, the window dragged",
        times=measure_frame_gaps(bench, repeats),
        target=20,
        target_95=34,
    )
    gap_result.print_line()
    draft_result = TimingResult(
        name="mouse release until the draft is saved",
        times=time_draft_save(bench, "hand", repeats),
        target=250,
    )
    draft_result.print_line()
    after_script, after_click = time_entry(bench, repeats)
    entry_result = TimingResult(
        name="image after the page's script has ended", times=after_script, target=600
    )
    entry_result.print_line()
    TimingResult(name="image after the click that opens the page", times=after_click).print_line()
    print("\nthe basic editor with an 8-bit picture of 1600 pixels; x: times as long as the viewer")
    TimingResult(
        name="next question, prefetched",
        times=time_next_question(bench, "plain", repeats, PLAIN_EDITOR_SCRIPT),
    ).print_line(prefetched_result)
    TimingResult(
        name="frame gap, its brightness dragged",
        times=measure_frame_gaps(bench, repeats, PLAIN_EDITOR_SCRIPT),
    ).print_line(gap_result)
    TimingResult(
        name="mouse release until the draft is saved",
        times=time_draft_save(bench, "plainhand", repeats, PLAIN_EDITOR_SCRIPT),
    ).print_line(draft_result)
    return any(
        result.is_missed
        for result in (cold_result, prefetched_result, gap_result, draft_result, entry_result)
    )


if __name__ == "__main__":
    sys.exit(main())
