"""Tests races of clicks in Chromium on the running app: each action is done once, or visibly not saved.

There are 1,000 races from a seed. A race on the review page saves a judgement, followed after 0 to 250 ms by
a second action: the same click, another widget, F5, the same question in a second tab, the browser's Back,
the key held down, or closing the tab. On the coordinator's pages, the first action is draw, assign, close or
release. Afterwards the database must have one row for the action, or no row and "not saved" on screen.

``python -m benchmarks.soak_clicks [--races N] [--seed N] [--port PORT]`` prints a line for each kind of race.
It exits with 1 if a race left a duplicate, or neither a row nor a message.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Error, Page, sync_playwright

from benchmarks.soak_clicks_pages import Coordinator, Reviewer
from benchmarks.soak_world import COORDINATOR, PASSWORD, fill_workspace, open_sqlite_workspace, run_app
from benchmarks.viewer_app import find_chromium

MAX_GAP_MS = 250  # milliseconds between the two halves of a race
_COORDINATOR_SHARE = 0.35  # share of the races that are on the coordinator's pages
PATIENCE = 20.0  # seconds after which a missing row counts as not saved


@dataclass(slots=True, kw_only=True)
class Results:
    """The outcomes of each kind of race: "once", "not saved", or an outcome that must not occur."""

    ends_by_race: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    wrong_ends: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--races", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--port", type=int, default=0)
    args = parser.parse_args()
    results, rng, started = Results(), random.Random(args.seed), time.perf_counter()
    print(f"{args.races} races, seed {args.seed}, load {os.getloadavg()[0]:.1f}", flush=True)
    coordinator_races = round(args.races * _COORDINATOR_SHARE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        shared_arguments = {"rng": rng, "results": results, "port": args.port}
        _run_races(
            browser, Reviewer, "reviewer-001", races=args.races - coordinator_races, **shared_arguments
        )
        _run_races(browser, Coordinator, COORDINATOR, races=coordinator_races, **shared_arguments)
        browser.close()
    return _print_results(results, time.perf_counter() - started)


def _run_races(
    browser: Browser,
    pages_type: type[Reviewer] | type[Coordinator],
    person_name: str,
    *,
    races: int,
    rng: random.Random,
    results: Results,
    port: int,
) -> None:
    """Run the races of one person, on a separate workspace and server."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, open_sqlite_workspace(Path(folder)) as workspace:
        fill_workspace(workspace, reviewers=1, questions_each=max(races, 20), per_exam=4)
        with run_app(workspace, first_port=port) as [address]:
            window = browser.new_context(viewport={"width": 1440, "height": 900}, base_url=address)
            _sign_in(window.new_page(), person_name)
            person_pages = pages_type(window, workspace)
            for number in range(1, races + 1):
                _run_race(number, person_pages, rng, results)
                if number % 50 == 0:
                    print(
                        f"  {pages_type.__name__}: {number} races, {time.perf_counter() - started:.0f} s",
                        flush=True,
                    )
            window.close()


def _sign_in(page: Page, name: str) -> None:
    page.goto("/sign-in")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Sign out").wait_for(timeout=60_000)


def _run_race(number: int, pages: Reviewer | Coordinator, rng: random.Random, results: Results) -> None:
    page, action = pages.prepare_race(rng)
    second_action = rng.choice(sorted(SECOND_ACTIONS))
    gap = rng.uniform(0, MAX_GAP_MS)
    name = f"{action.name}, then {second_action}"
    try:
        action.click()
        page.wait_for_timeout(gap)
        SECOND_ACTIONS[second_action](page, action, pages)
    except Error as error:
        # The page or button of the second action no longer exists; the first action is counted below.
        cause = "found nothing to click any more" if "Timeout" in str(error) else "cut off"
        results.ends_by_race[name][f"(second half {cause})"] += 1
    deadline = time.monotonic() + PATIENCE
    while (
        (row_count := action.count_rows()) == 0
        and not pages.shows_not_saved()
        and time.monotonic() < deadline
    ):
        time.sleep(0.05)
    if row_count == 1:
        time.sleep(0.1)  # a duplicate row would follow directly
        row_count = action.count_rows()
    outcome = (
        "once"
        if row_count == 1
        else "not saved"
        if row_count == 0 and pages.shows_not_saved()
        else f"{row_count} times"
    )
    results.ends_by_race[name][outcome] += 1
    if outcome not in {"once", "not saved"}:
        results.wrong_ends.append(f"race {number}: {name} after {gap:.0f} ms: {outcome}")
    pages.reset_window()


def _click_again(_page: Page, action: object, _pages: object) -> None:
    action.click()  # type: ignore[attr-defined]  # any action of the two pages


def _hold_key(page: Page, action: object, _pages: object) -> None:
    for _ in range(5):
        page.keyboard.press(action.key)  # type: ignore[attr-defined]  # as above


def _use_other_widget(page: Page, _action: object, pages: Reviewer | Coordinator) -> None:
    pages.click_other_widget(page)


def _repeat_in_second_tab(_page: Page, action: object, pages: Reviewer | Coordinator) -> None:
    pages.repeat_in_second_tab(action)  # type: ignore[arg-type]  # each class takes its own actions


#: The second action of a race.
SECOND_ACTIONS: dict[str, Callable[[Page, object, Reviewer | Coordinator], object]] = {
    "the same again": _click_again,
    "the key held down": _hold_key,
    "another widget": _use_other_widget,
    "F5": lambda page, _action, _pages: page.reload(wait_until="commit"),
    "a second tab": _repeat_in_second_tab,
    # The call must be answered before its page is left; otherwise it never returns.
    "back": lambda page, _action, _pages: page.evaluate("setTimeout(() => history.back(), 0)"),
    "the tab closed": lambda page, _action, pages: pages.close_tab(page),
}


def _print_results(results: Results, seconds: float) -> int:
    totals: Counter[str] = Counter()
    for name in sorted(results.ends_by_race):
        race_ends = results.ends_by_race[name]
        totals += race_ends
        print(f"  {name:44} " + ", ".join(f"{end} {count}" for end, count in race_ends.most_common()))
    print(f"together: {', '.join(f'{end} {count}' for end, count in totals.most_common())}; {seconds:.0f} s")
    for wrong_end in results.wrong_ends:
        print(f"  WRONG {wrong_end}")
    return 1 if results.wrong_ends else 0


if __name__ == "__main__":
    sys.exit(main())
