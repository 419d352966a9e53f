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
from ui.context import clock
from ui.parts import not_saved

_LOG = logging.getLogger(__name__)
#: What tells how far it is: so many done, of so many, of what.
Tell = Callable[[int, int, str], None]


@dataclass(slots=True, kw_only=True)
class Work:
    """One piece of work. At its end there is ``said`` (what came of it) or ``failure`` (why nothing did)."""

    name: str
    done: int = 0
    all: int = 0
    unit: str = ""
    said: str | None = None
    failure: str | None = None
    ended_at: datetime | None = None

    @property
    def is_done(self) -> bool:
        """Whether nothing more comes."""
        return self.ended_at is not None

    def tell(self, done: int, of: int, unit: str) -> None:
        """Say how far it is."""
        self.done, self.all, self.unit = done, of, unit


_A_MOMENT = 0.5  # seconds

_works: dict[str, Work] = {}
_lock = threading.Lock()


def work_of(name: str) -> Work | None:
    """What was begun last under that name."""
    return _works.get(name)


def begin(name: str, carry_out: Callable[[Tell], str]) -> Work:
    """Begin it, and wait a moment: what is done by then needs no progress.

    ``carry_out`` gives what is said at the end; the text of its DomainError is what is said instead.

    Raises:
        DomainError: it goes on already; two people, or two clicks, want it once.
    """
    with _lock:
        found = _works.get(name)
        if found is not None and not found.is_done:
            raise DomainError("This goes on already, begun at another click. Wait until it is done.")
        work = _works[name] = Work(name=name)
    thread = threading.Thread(target=_carry_out, args=(work, carry_out), name=name, daemon=True)
    thread.start()
    thread.join(_A_MOMENT)
    return work


def forget(name: str) -> None:
    """What came of it was read, or something else has begun."""
    with _lock:
        found = _works.get(name)
        if found is not None and found.is_done:
            del _works[name]


def _carry_out(work: Work, carry_out: Callable[[Tell], str]) -> None:
    try:
        work.said = carry_out(work.tell)
    except NotNow as error:
        work.failure = not_saved(str(error))
    except DomainError as error:
        work.failure = str(error)
    except OSError as error:
        _LOG.exception("%s failed", work.name)
        work.failure = not_saved(file_trouble(error))
    except Exception:  # noqa: BLE001 - the thread's last line: the page must not wait for ever
        _LOG.exception("%s failed", work.name)
        work.failure = "Not saved. It failed, and nothing was kept. The server's log says why."
    finally:
        work.ended_at = clock()
