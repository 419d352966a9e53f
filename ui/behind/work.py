"""Long work, each piece in a thread of its own, which no click, F5 or closed tab can stop.

A callback that draws its progress is cut off by the next click: Streamlit looks for one at each drawing. So
a page only begins such work, and looks at it from time to time.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from domain.errors import DomainError, NotNow
from domain.file_errors import file_trouble
from domain.people import Person
from ui.context import clock
from ui.parts import not_saved

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """How it is told that nothing came of it: ``trouble`` with disk or database, a ``fault`` of ours."""

    trouble: Callable[[str], str] = not_saved
    fault: str = "Not saved. It failed, and nothing was kept. The server's log says why."


@dataclass(slots=True, kw_only=True)
class Work:
    """One piece of work. At its end there is ``said`` (what came of it) or ``failure`` (why nothing did).

    ``about`` is what was asked for, and ``result`` more than a sentence can say; with a failure too.
    """

    name: str
    by: int | None
    about: object
    begun_at: datetime
    part: float = 0.0  # of all, 0 to 1
    how_far: str = "Beginning …"
    result: object = None
    said: str | None = None
    failure: str | None = None
    ended_at: datetime | None = None

    @property
    def is_done(self) -> bool:
        """Whether nothing more comes."""
        return self.ended_at is not None

    def tell(self, done: int, of: int, unit: str) -> None:
        """Say how far it is, in so many of so many."""
        if of:
            self.tell_part(min(1.0, done / of), f"{done:,} of {of:,} {unit}")

    def tell_part(self, part: float, how_far: str) -> None:
        """Say how far it is, where that is no count: the part of all, 0 to 1, in words too."""
        self.part, self.how_far = part, how_far


_A_MOMENT = 0.5  # seconds

_works: dict[str, Work] = {}
_lock = threading.Lock()


def work_of(name: str) -> Work | None:
    """What was begun last under that name."""
    return _works.get(name)


def latest_of(person: Person, about: type) -> Work | None:
    """What the person began last about such a thing, until it is forgotten; found again after F5."""
    mine = [each for each in list(_works.values()) if each.by == person.id and isinstance(each.about, about)]
    return max(mine, key=lambda each: each.begun_at, default=None)


def begin(
    name: str,
    carry_out: Callable[[Work], str],
    *,
    by: Person | None = None,
    about: object = None,
    once: bool = False,
    words: Words | None = None,
) -> Work:
    """Begin it, and wait a moment: what is done by then needs no progress.

    Args:
        name: of which one goes on at a time.
        carry_out: gives what is said at the end; the text of its DomainError is what is said instead.
        by: whose it is, for :func:`latest_of`.
        about: what was asked for.
        once: give what was begun under that name and is not forgotten, instead of beginning it again.
        words: how it is told that nothing came of it.

    Raises:
        DomainError: it goes on already; two people, or two clicks, want it once.
    """
    with _lock:
        found = _works.get(name)
        if found is not None and once:
            return found
        if found is not None and not found.is_done:
            raise DomainError("This goes on already, begun at another click. Wait until it is done.")
        work = Work(name=name, by=by.id if by else None, about=about, begun_at=clock())
        _works[name] = work
    arguments = (work, carry_out, words or Words())
    thread = threading.Thread(target=_carry_out, args=arguments, name=name, daemon=True)
    thread.start()
    thread.join(_A_MOMENT)
    return work


def forget(name: str) -> None:
    """What came of it was read, or something else has begun."""
    with _lock:
        found = _works.get(name)
        if found is not None and found.is_done:
            del _works[name]


def _carry_out(work: Work, carry_out: Callable[[Work], str], words: Words) -> None:
    try:
        work.said = carry_out(work)
    except NotNow as error:
        work.failure = words.trouble(str(error))
    except DomainError as error:
        work.failure = str(error)
    except OSError as error:
        _LOG.exception("%s failed", work.name)
        work.failure = words.trouble(file_trouble(error))
    except Exception:  # noqa: BLE001 - the thread's last line: the page must not wait for ever
        _LOG.exception("%s failed", work.name)
        work.failure = words.fault
    finally:
        work.ended_at = clock()
