"""Races of clicks in Chromium on the running app: each action is done once, or visibly not saved.

There are 1,000 races, seeded. On the review page: the save of a judged question and, 0 to 250 ms later, the
same click again, another widget, F5, the same question in a second tab, the browser's Back, the key held
down, or the tab closed. On the coordinator's pages: draw, assign, close, release, each with the same seven.
Afterwards the database must have one row of the action, or none and "not saved" on screen; never two.

``python -m benchmarks.soak_clicks [--races N] [--seed N] [--port PORT]`` prints a line for each kind of race;
it exits 1 if a race left a duplicate, or nothing and no message.
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
from benchmarks.soak_world import COORDINATOR, PASSWORD, furnish, served, sqlite_place
from benchmarks.viewer_app import chromium

LONGEST_GAP = 250  # milliseconds between the two halves of a race
_COORDINATORS = 0.35  # share of the races that are on the coordinator's pages
PATIENCE = 20.0  # seconds after which a missing row counts as not saved


@dataclass(slots=True, kw_only=True)
class Results:
    """How each kind of race ended: "once", "not saved", or an outcome that must not occur."""

    ends: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    wrong: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--races", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--port", type=int, default=0)
    args = parser.parse_args()
    results, chance, started = Results(), random.Random(args.seed), time.perf_counter()
    print(f"{args.races} races, seed {args.seed}, load {os.getloadavg()[0]:.1f}", flush=True)
    coordinators = round(args.races * _COORDINATORS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        more = {"chance": chance, "results": results, "port": args.port}
        _races(browser, Reviewer, "reviewer-001", races=args.races - coordinators, **more)
        _races(browser, Coordinator, COORDINATOR, races=coordinators, **more)
        browser.close()
    return _say(results, time.perf_counter() - started)


def _races(
    browser: Browser,
    kind: type[Reviewer] | type[Coordinator],
    who: str,
    *,
    races: int,
    chance: random.Random,
    results: Results,
    port: int,
) -> None:
    """Run that many races of one person, on a workspace and a server of their own."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, sqlite_place(Path(folder)) as place:
        furnish(place, reviewers=1, questions_each=max(races, 20), per_exam=4)
        with served(place, first_port=port) as [address]:
            window = browser.new_context(viewport={"width": 1440, "height": 900}, base_url=address)
            _sign_in(window.new_page(), who)
            pages = kind(window, place)
            for number in range(1, races + 1):
                _race(number, pages, chance, results)
                if number % 50 == 0:
                    print(
                        f"  {kind.__name__}: {number} races, {time.perf_counter() - started:.0f} s",
                        flush=True,
                    )
            window.close()


def _sign_in(page: Page, name: str) -> None:
    page.goto("/sign-in")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Sign out").wait_for(timeout=60_000)


def _race(number: int, kind: Reviewer | Coordinator, chance: random.Random, results: Results) -> None:
    page, action = kind.ready(chance)
    second = chance.choice(sorted(SECONDS))
    gap = chance.uniform(0, LONGEST_GAP)
    name = f"{action.name}, then {second}"
    try:
        action.click()
        page.wait_for_timeout(gap)
        SECONDS[second](page, action, kind)
    except Error as error:
        # The second action found its page or button gone; the first action is counted below.
        cause = "found nothing to click any more" if "Timeout" in str(error) else "cut off"
        results.ends[name][f"(second half {cause})"] += 1
    until = time.monotonic() + PATIENCE
    while (done := action.done()) == 0 and not kind.says_not_saved() and time.monotonic() < until:
        time.sleep(0.05)
    if done == 1:
        time.sleep(0.1)  # a second one would follow directly
        done = action.done()
    end = "once" if done == 1 else "not saved" if done == 0 and kind.says_not_saved() else f"{done} times"
    results.ends[name][end] += 1
    if end not in {"once", "not saved"}:
        results.wrong.append(f"race {number}: {name} after {gap:.0f} ms: {end}")
    kind.tidy()


def _twice(_page: Page, action: object, _kind: object) -> None:
    action.click()  # type: ignore[attr-defined]  # any action of the two pages


def _key(page: Page, action: object, _kind: object) -> None:
    for _ in range(5):
        page.keyboard.press(action.key)  # type: ignore[attr-defined]  # the same


def _other(page: Page, _action: object, kind: Reviewer | Coordinator) -> None:
    kind.other_widget(page)


def _second_tab(_page: Page, action: object, kind: Reviewer | Coordinator) -> None:
    kind.same_in_second_tab(action)  # type: ignore[arg-type]  # each kind takes its own


#: The second action of a race.
SECONDS: dict[str, Callable[[Page, object, Reviewer | Coordinator], object]] = {
    "the same again": _twice,
    "the key held down": _key,
    "another widget": _other,
    "F5": lambda page, _action, _kind: page.reload(wait_until="commit"),
    "a second tab": _second_tab,
    # The call must be answered before its page is left; otherwise it never returns.
    "back": lambda page, _action, _kind: page.evaluate("setTimeout(() => history.back(), 0)"),
    "the tab closed": lambda page, _action, kind: kind.shut(page),
}


def _say(results: Results, seconds: float) -> int:
    whole: Counter[str] = Counter()
    for name in sorted(results.ends):
        ends = results.ends[name]
        whole += ends
        print(f"  {name:44} " + ", ".join(f"{end} {count}" for end, count in ends.most_common()))
    print(f"together: {', '.join(f'{end} {count}' for end, count in whole.most_common())}; {seconds:.0f} s")
    for each in results.wrong:
        print(f"  WRONG {each}")
    return 1 if results.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
