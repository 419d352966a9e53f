"""Reports that are being computed behind the page: a thread each, which no rerun, F5 or closed tab can stop.

One is computed at a time in a process: figures are work for the processor, and others are reading meanwhile.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass

from domain.errors import DomainError
from domain.file_errors import file_trouble
from reader_study.service import ReportState, compute_report
from storage.workspace import Workspace

_LOG = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Computation:
    """A report that was asked for. ``part`` is done, 0 to 1; ``failure`` says why nothing came of it."""

    part: float = 0.0
    done: bool = False
    failure: str | None = None


_running: dict[str, Computation] = {}
_lock = threading.Lock()
_one_at_a_time = threading.Lock()


def start(state: ReportState, workspace: Workspace) -> None:
    """Begin it, unless it was begun: two people, or two clicks, want one report."""
    with _lock:
        if state.digest in _running and not _running[state.digest].done:
            return
        run = _running[state.digest] = Computation()
    threading.Thread(
        target=_carry_out, args=(run, state, workspace), name=f"report-{state.digest[:12]}", daemon=True
    ).start()


def computation_of(digest: str) -> Computation | None:
    """What was asked for, until it is forgotten."""
    return _running.get(digest)


def forget(digest: str) -> None:
    """It is there, or its failure was read."""
    with _lock:
        _running.pop(digest, None)


def _carry_out(run: Computation, state: ReportState, workspace: Workspace) -> None:
    def note(part: float) -> None:
        run.part = part

    try:
        with _one_at_a_time:
            compute_report(workspace=workspace, state=state, progress=note)
    except DomainError as error:
        run.failure = str(error)
    except OSError as error:
        _LOG.exception("a report could not be kept")
        run.failure = file_trouble(error)
    except Exception:  # noqa: BLE001 - the thread's last line: the page must not wait for ever
        _LOG.exception("a report failed")
        run.failure = "The report could not be computed. The server's log says why."
    finally:
        run.done = True
