"""Searching and ranking that run behind the page: a thread each, which no rerun or closed tab can stop."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass

from domain.errors import DomainError
from domain.file_errors import file_trouble
from domain.people import Person
from privacy.service import find_hits, rank_images, ranking_told, record_hits, record_ranks
from ui.context import clock, current_workspace, reading, unit_of_work

_LOG = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Work:
    """A search or a ranking of one dataset; done when ``said`` or ``failure`` is there."""

    what: str
    done: int = 0
    all: int = 0
    unit: str = ""
    said: str | None = None
    failure: str | None = None

    @property
    def is_done(self) -> bool:
        """Whether nothing more comes."""
        return self.said is not None or self.failure is not None


_works: dict[tuple[str, str], Work] = {}
_lock = threading.Lock()


def work_on(dataset: str, what: str) -> Work | None:
    """The search ("texts") or ranking ("pixels") of that dataset that was started last."""
    return _works.get((dataset, what))


def start(dataset: str, what: str, person: Person) -> None:
    """Start it, unless it runs already."""
    with _lock:
        found = _works.get((dataset, what))
        if found is not None and not found.is_done:
            return
        work = _works[(dataset, what)] = Work(what=what)
    threading.Thread(target=_carry_out, args=(work, dataset, person), daemon=True).start()


def _carry_out(work: Work, dataset: str, person: Person) -> None:
    try:
        carry_out = _search if work.what == "texts" else _rank  # allow write-without-act: a thread of its own
        work.said = carry_out(work, dataset, person)
    except DomainError as error:
        work.failure = str(error)
    except OSError as error:
        _LOG.exception("the %s of a dataset could not be searched", work.what)
        work.failure = file_trouble(error)
    except Exception:  # noqa: BLE001 - the thread's last line: the page must not wait for ever
        _LOG.exception("the %s of a dataset could not be searched", work.what)
        work.failure = "It failed, and nothing was kept. The server's log says why."


def _search(work: Work, dataset: str, person: Person) -> str:
    def tell(done: int, of: int, unit: str) -> None:
        work.done, work.all, work.unit = done, of, unit

    with reading() as db:
        found = find_hits(db, by=person, dataset=dataset, workspace=current_workspace(), progress=tell)
    with unit_of_work() as db:
        record_hits(db, by=person, found=found, now=clock())
    headers = f" and for what {found.headers:,} image headers say" if found.headers else ""
    return f"Searched {found.questions:,} questions by pattern{headers}: {len(found.hits):,} passages."


def _rank(work: Work, dataset: str, person: Person) -> str:
    def tell(done: int, of: int) -> None:
        work.done, work.all, work.unit = done, of, "images"

    with reading() as db:
        ranked = rank_images(db, by=person, dataset=dataset, workspace=current_workspace(), progress=tell)
    with unit_of_work() as db:
        record_ranks(db, by=person, ranked=ranked, now=clock())
    return ranking_told(ranked)
