"""The pages on which `soak_clicks.py` runs races, and the counting of actions in the database."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count

from playwright.sync_api import BrowserContext, Locator, Page
from sqlalchemy import func, select
from sqlmodel import Session

from accounts.service import command_line_person, load_person_by_name
from benchmarks.soak_world import COORDINATOR, SoakWorkspace
from domain.batches import BatchSettings, BatchState, SamplingPlan
from domain.ratings import Ratings
from domain.verdicts import Decision, Opinion, Verdict
from domain.vocabulary import Difficulty
from review import service as review
from sampling.service import draw_batch
from storage.rows.audit import AuditRow
from storage.rows.verdicts import VerdictRow
from storage.unit_of_work import read_only_session, unit_of_work

_RATING_KEYS = "3333nne"  # four ratings of 3, no, no, easy


@dataclass(frozen=True, slots=True, kw_only=True)
class ClickAction:
    """An action that a race triggers, by a click or a key.

    ``count_rows()`` counts the rows that the action created. ``key`` triggers the action by keyboard.
    """

    name: str
    click: Callable[[], None]
    count_rows: Callable[[], int]
    key: str = "Enter"


class _Pages:
    """A window, and the pages that are open in it.

    Tabs are closed by the browser's own command, which does not wait. Playwright's command waits for the
    page, and it can hang forever if the page is being left at that moment.
    """

    def __init__(self, window: BrowserContext, workspace: SoakWorkspace) -> None:
        self.window, self.workspace = window, workspace
        if window.browser is None:
            raise RuntimeError("the window is of no browser")
        self._browser = window.browser.new_browser_cdp_session()
        self._targets: dict[Page, str] = {}

    def shows_not_saved(self) -> bool:
        """Whether an open page of the window shows "not saved"."""
        messages = ("Not saved", "not saved")
        return any(page.get_by_text(text).first.is_visible() for page in self._targets for text in messages)

    def reset_window(self) -> None:
        """Replace all tabs by one new page, because some races close a tab."""
        old_pages = list(self._targets)
        self.open_page()
        for page in old_pages:
            self.close_tab(page)

    def current_page(self) -> Page:
        """The page of the next race."""
        return next(reversed(self._targets), None) or self.open_page()

    def open_page(self) -> Page:
        """Open one more tab."""
        page = self.window.new_page()
        session = self.window.new_cdp_session(page)
        self._targets[page] = session.send("Target.getTargetInfo")["targetInfo"]["targetId"]
        session.detach()
        return page

    def close_tab(self, page: Page) -> None:
        """Close a tab like its close button; do nothing if the tab is already closed."""
        target = self._targets.pop(page, None)
        if target is not None:
            self._browser.send("Target.closeTarget", {"targetId": target})


class Reviewer(_Pages):
    """The review page: one question per race."""

    def __init__(self, window: BrowserContext, workspace: SoakWorkspace) -> None:
        super().__init__(window, workspace)
        window.add_init_script("localStorage.setItem('overread-viewer', 'plain')")
        self.question_row_ids = count(1)
        self.question_row_id = 0

    def prepare_race(self, rng: random.Random) -> tuple[Page, ClickAction]:
        """Open a new question and rate it. The browser's Back leads to Home."""
        self.question_row_id, page = next(self.question_row_ids), self.current_page()
        page.goto("/")
        self._open(page)
        number = self.question_row_id
        accept_button = page.get_by_role("button", name="Accept", exact=True)
        button_box = accept_button.bounding_box()
        if button_box is None:
            raise RuntimeError("no button to accept by")
        click_point = (button_box["x"] + 10, button_box["y"] + 10)
        click = rng.choice([lambda: page.mouse.click(*click_point), lambda: page.keyboard.press("a")])
        return page, ClickAction(
            name="verdict", click=click, count_rows=lambda: self._count_verdicts(number), key="a"
        )

    def _open(self, page: Page) -> None:
        page.goto(f"/review?batch=1&question={self.question_row_id}")
        page.get_by_label("Stem", exact=True).wait_for(timeout=60_000)
        image_state = '[data-image-state="drawn"], [data-image-state="none"]'
        page.locator(image_state).wait_for(state="attached", timeout=60_000)
        page.wait_for_timeout(600)  # the form does not save a question that has only just appeared
        for key in _RATING_KEYS:
            page.keyboard.press(key)

    def click_other_widget(self, page: Page) -> None:
        page.get_by_role("button", name="next question (J)").click(no_wait_after=True, timeout=5_000)

    def repeat_in_second_tab(self, action: ClickAction) -> None:  # noqa: ARG002 - the second tab uses the key A
        page = self.open_page()
        self._open(page)
        page.keyboard.press("a")
        page.wait_for_timeout(500)

    def _count_verdicts(self, number: int) -> int:
        row = VerdictRow
        with read_only_session(self.workspace.engine) as db:
            query = select(func.count()).select_from(row)
            return int(db.execute(query.where(row.question_id == number, row.revision == 1)).scalar_one())


class Coordinator(_Pages):
    """The coordinator's pages: draw, assign, close or open, release; actions are counted by audit entries."""

    def __init__(self, window: BrowserContext, workspace: SoakWorkspace) -> None:
        super().__init__(window, workspace)
        self.race_numbers = count(1)
        self.race_name = ""
        with unit_of_work(workspace.engine) as db:
            _save_one_verdict(db)

    def prepare_race(self, rng: random.Random) -> tuple[Page, ClickAction]:
        """Prepare one of the four actions for the click. The browser's Back leads to Home."""
        page, self.race_name = self.current_page(), f"race-{next(self.race_numbers)}"
        page.goto("/")
        self.prepare_action = rng.choice([self._draw, self._assign, self._close, self._release])
        with unit_of_work(self.workspace.engine) as db:
            self._draw_batch_and_close_others(db)
        button, audit_actions = self.prepare_action(page)
        button.wait_for(timeout=60_000)
        count_before = self._count_audit_rows(audit_actions)
        name = self.prepare_action.__name__.strip("_")
        count_new_rows = lambda: self._count_audit_rows(audit_actions) - count_before  # noqa: E731 - a def would not be clearer
        return page, ClickAction(
            name=name,
            click=lambda: button.click(no_wait_after=True, timeout=10_000),
            count_rows=count_new_rows,
        )

    def click_other_widget(self, page: Page) -> None:
        page.get_by_role("link", name="Progress").click(no_wait_after=True, timeout=5_000)

    def repeat_in_second_tab(self, action: ClickAction) -> None:
        page = self.open_page()
        button, _ = self.prepare_action(page)
        if action.name != "close":  # the second tab offers to reopen instead, which is another action
            button.click(no_wait_after=True, timeout=10_000)
        page.wait_for_timeout(500)

    def _draw(self, page: Page) -> tuple[Locator, set[str]]:
        page.goto("/sampling")
        self._fill_race_name(page, "Batch name")
        return page.get_by_role("button", name=re.compile("^Draw [0-9]")), {"draw batch"}

    def _assign(self, page: Page) -> tuple[Locator, set[str]]:
        page.goto("/assign")
        people = page.get_by_role("combobox", name=re.compile("Reviewers"))
        # An open list closes when the page scrolls. Playwright scrolls at the moment of its click, which no
        # person does; with many batches above the list, the list would close again at once.
        people.scroll_into_view_if_needed(timeout=60_000)
        page.wait_for_timeout(300)
        people.click()
        page.get_by_role("option").first.click()
        page.keyboard.press("Escape")  # while a list is open, other elements cannot be found by their roles
        return page.get_by_role("button", name="Assign", exact=True), {"assign questions"}

    def _close(self, page: Page) -> tuple[Locator, set[str]]:
        page.goto("/assign")
        return page.get_by_role("button", name="Close batch"), {"close batch"}

    def _release(self, page: Page) -> tuple[Locator, set[str]]:
        page.goto("/releases")
        self._fill_race_name(page, "Release name")
        return page.get_by_role("button", name="Create release"), {"make release"}

    def _fill_race_name(self, page: Page, label: str) -> None:
        field = page.get_by_label(label)
        field.fill(self.race_name, timeout=60_000)
        field.press("Tab")
        page.wait_for_timeout(500)  # the page is redrawn with the name

    def _draw_batch_and_close_others(self, db: Session) -> None:
        """Draw an unassigned batch for this race and close all others, so that the page selects it."""
        now, by = datetime.now(UTC), command_line_person()
        for batch_summary in review.list_batch_overviews(db, by=by):
            if batch_summary.batch.state is BatchState.OPEN:
                review.close_batch(db, by=by, batch=batch_summary.batch.name, now=now)
        plan = SamplingPlan(seed=1, per_1000=None, n=4)
        name = f"{self.race_name}-own"
        draw_batch(db, by=by, dataset="demo", plan=plan, batch_name=name, settings=BatchSettings(), now=now)

    def _count_audit_rows(self, audit_actions: set[str]) -> int:
        row = AuditRow
        with read_only_session(self.workspace.engine) as db:
            query = select(func.count()).select_from(row).where(row.what.in_(audit_actions))
            return int(db.execute(query.where(row.person_name == COORDINATOR)).scalar_one())


def _save_one_verdict(db: Session) -> None:
    """Save one verdict, because a release needs content."""
    person = load_person_by_name(db, name="reviewer-001")
    ratings = Ratings(clinical_quality=4, explanation_clarity=4, factual_correctness=4, image_alignment=4)
    verdict = Verdict(
        batch_id=1,
        question_row_id=1,
        person_id=person.id,
        revision=1,
        decision=Decision.ACCEPT,
        opinion=Opinion(
            ratings=ratings, domain_specific=True, cognitive_depth=True, difficulty=Difficulty.HARD
        ),
        seconds=30,
        seconds_looking=20,
        seconds_away=0,
        given_at=datetime.now(UTC),
    )
    review.save_verdict(db, verdict=verdict, person=person)
