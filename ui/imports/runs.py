"""Imports that run behind the page: a thread each, which no rerun, F5 or closed tab can stop."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from datetime import datetime

from browsing.service import index_questions
from domain.errors import DomainError
from domain.file_errors import file_trouble
from domain.people import Person
from intake.service import ImportRefused, ImportReport, Progress, door_of, import_questions
from ui.context import clock, current_workspace, reading, unit_of_work
from ui.imports.deliveries import Delivery, discard

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be imported and how."""

    delivery: Delivery
    file_format: str
    dataset: str
    skip_known: bool
    skip_bad: bool
    minimum_explanation: int | None
    deidentify: bool = False


@dataclass(slots=True, kw_only=True)
class Run:
    """An import that was started. It is done when ``report`` or ``failure`` is there."""

    wish: Wish
    person: Person
    started_at: datetime
    progress: Progress = field(
        default_factory=lambda: Progress(records=0, questions=0, refused=0, images=0, part=0.0)
    )
    report: ImportReport | None = None
    landed: bool = False
    failure: str | None = None

    @property
    def done(self) -> bool:
        """Whether nothing more comes."""
        return self.report is not None or self.failure is not None


_runs: dict[str, Run] = {}
_lock = threading.Lock()


def start(wish: Wish, person: Person) -> Run:
    """Start an import, or give the one that was started for this delivery: a double click starts one."""
    with _lock:
        found = _runs.get(wish.delivery.id)
        if found is not None:
            return found
        run = _runs[wish.delivery.id] = Run(wish=wish, person=person, started_at=clock())
    work = _carry_out  # allow write-without-act: a thread of its own, which the page watches and asks
    threading.Thread(target=work, args=(run,), name=f"import-{wish.delivery.id}", daemon=True).start()
    return run


def run_of(delivery_id: str) -> Run | None:
    """The import that was started for a delivery."""
    return _runs.get(delivery_id)


def latest_of(person: Person) -> Run | None:
    """The import that the person started last; found again after F5."""
    mine = [run for run in list(_runs.values()) if run.person.id == person.id]
    return max(mine, key=lambda run: run.started_at, default=None)


def forget(run: Run) -> None:
    """The person has seen what came of it."""
    with _lock:
        _runs.pop(run.wish.delivery.id, None)


def _carry_out(run: Run) -> None:
    wish = run.wish

    def note(progress: Progress) -> None:
        run.progress = progress

    try:
        with reading() as db:
            door = door_of(db, by=run.person, deidentify=wish.deidentify)
        with unit_of_work() as db:
            report = import_questions(
                db,
                by=run.person,
                door=door,
                path=wish.delivery.path,
                file_name=wish.delivery.name,
                file_format=wish.file_format,
                dataset=wish.dataset,
                images=wish.delivery.images,
                workspace=current_workspace(),
                skip_known=wish.skip_known,
                skip_bad=wish.skip_bad,
                minimum_explanation=wish.minimum_explanation,
                now=clock(),
                progress=note,
            )
        discard(wish.delivery)
        run.landed, run.report = True, report
    except ImportRefused as error:
        run.report = error.report
    except DomainError as error:
        run.failure = str(error)
    except OSError as error:
        _LOG.exception("an import failed")
        run.failure = f"Nothing was imported. {file_trouble(error)}"
    except Exception:  # noqa: BLE001 - the thread's last line: the page must not wait for ever
        _LOG.exception("an import failed")
        run.failure = "The import failed and nothing was imported. The server's log says why."
    if run.landed:
        _index()


def _index() -> None:
    """Put what came in into the search index, part by part, so that nobody who is judging waits."""
    more = True
    try:
        while more:
            with unit_of_work() as db:
                more = index_questions(db)
    except DomainError:  # the page that searches offers to go on with it
        _LOG.exception("the search index is behind")
