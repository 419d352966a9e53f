"""Reports are computed behind the page.

One is computed at a time in a process: figures are work for the processor, and others are reading meanwhile.
"""

from __future__ import annotations

import threading
from functools import partial

from reader_study.service import ReportState, compute_report
from storage.workspace import Workspace
from ui.behind.work import Words, Work, begin, forget

_WORDS = Words(
    trouble=lambda text: text, fault="The report could not be computed. The server's log says why."
)
_one_at_a_time = threading.Lock()


def name_of(digest: str) -> str:
    """What the report of that digest is called as work."""
    return f"report {digest}"


def start(state: ReportState, workspace: Workspace) -> None:
    """Begin it, unless it goes on: two people, or two clicks, want one report."""
    forget(name_of(state.digest))
    begin(name_of(state.digest), partial(_carry_out, state, workspace), once=True, words=_WORDS)


def _carry_out(state: ReportState, workspace: Workspace, work: Work) -> str:
    def told(part: float) -> None:
        work.tell_part(part, f"Computing accuracies, agreement and comparisons: {part:.0%}")

    told(0.0)
    with _one_at_a_time:
        compute_report(workspace=workspace, state=state, progress=told)
    return ""  # the report itself is shown
