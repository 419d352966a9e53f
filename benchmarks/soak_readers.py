"""Tests many simulated reviewers at the real web server: no verdict is lost or duplicated; saves are fast.

100 simulated reviewers sign in at the same moment and give 50 verdicts each, with a mean thinking time of 10
seconds (exponential, from a seed). Afterwards the database must contain each acknowledged verdict once and
unchanged, with its audit entry, and no other verdict. Target: 95 % of the saves take at most 0.5 seconds from
request to response. There is one app process on SQLite, or two on PostgreSQL with half of the reviewers each.

``python -m benchmarks.soak_readers [--postgres] [--readers N] [--verdicts N] [--thinking SECONDS]`` prints
the results and exits with 1 if a target is missed. With 10 seconds, a run takes nine minutes; with
``--readers 20 --verdicts 5 --thinking 2``, it takes half a minute. `soak_reader.py` states how a simulated
reviewer differs from a browser.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select

from benchmarks.soak_reader import ReaderTimings, SimulatedReader
from benchmarks.soak_world import (
    SoakWorkspace,
    count_logged_exceptions,
    fill_workspace,
    open_postgres_workspace,
    open_sqlite_workspace,
    run_app,
)
from storage.audit.contents import GIVE_VERDICT
from storage.rows.audit import AuditRow
from storage.rows.verdicts import VerdictRow
from storage.unit_of_work import read_only_session

TARGET_SECONDS = 0.5  # seconds, 95th percentile of a save


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderOutcome:
    """The measurements of the reviewers, and the content of the database afterwards."""

    timings: ReaderTimings
    lost: int
    duplicated: int
    unexplained: int
    without_audit: int
    faults: int
    seconds: float
    cpu: float

    @property
    def is_complete(self) -> bool:
        """Whether no verdict is lost, duplicated or unexplained, and each has its audit entry."""
        return not (self.lost or self.duplicated or self.unexplained or self.without_audit)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgres", action="store_true", help="two app processes on PostgreSQL")
    parser.add_argument("--readers", type=int, default=100)
    parser.add_argument("--verdicts", type=int, default=50, help="of each reader")
    parser.add_argument(
        "--thinking", type=float, default=10.0, help="mean thinking time per question in seconds"
    )
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--port", type=int, default=0, help="of the first process; free ones otherwise")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        open_workspace = (
            open_postgres_workspace(Path(folder)) if args.postgres else open_sqlite_workspace(Path(folder))
        )
        with open_workspace as workspace:
            outcome = run_readers(
                workspace,
                readers=args.readers,
                verdicts=args.verdicts,
                thinking_seconds=args.thinking,
                seed=args.seed,
                processes=2 if args.postgres else 1,
                port=args.port,
            )
    expected = args.readers * args.verdicts
    _print_outcome(outcome, expected)
    is_done = outcome.is_complete and len(outcome.timings.acknowledged) == expected
    return 0 if is_done and percentile(outcome.timings.saves, 95) <= TARGET_SECONDS else 1


def run_readers(
    workspace: SoakWorkspace,
    *,
    readers: int,
    verdicts: int,
    thinking_seconds: float,
    seed: int = 4,
    processes: int = 1,
    port: int = 0,
) -> ReaderOutcome:
    """Fill the empty workspace, run the reviewers, and check the content of the database afterwards."""
    names = fill_workspace(workspace, reviewers=readers, questions_each=verdicts)
    print(
        f"{workspace.engine.dialect.name}, app processes {processes}: {readers} readers x {verdicts}"
        f" verdicts, {thinking_seconds:g} s of thinking, load {os.getloadavg()[0]:.1f} on {os.cpu_count()}"
        " cores",
        flush=True,
    )
    timings, cpu_before = ReaderTimings(), _cpu_of_children()
    with run_app(workspace, processes=processes, first_port=port) as addresses:
        simulated_readers = [
            SimulatedReader(
                name=name,
                address=addresses[number % len(addresses)],
                verdicts=verdicts,
                thinking_seconds=thinking_seconds,
                seed=seed * 1_000_003 + number,
                timings=timings,
            )
            for number, name in enumerate(names)
        ]
        start = time.perf_counter()
        asyncio.run(_run_all(simulated_readers))
        seconds = time.perf_counter() - start
    return _check_database(workspace, timings, seconds=seconds, cpu=_cpu_of_children() - cpu_before)


def _cpu_of_children() -> float:
    """Return the CPU seconds of the ended child processes, including their children."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


async def _run_all(readers: list[SimulatedReader]) -> None:
    async def run_reader(reader: SimulatedReader) -> None:
        try:
            await reader.judge_all()
        except Exception as error:  # noqa: BLE001 - the error of one reviewer must not end the others
            reader.timings.problems.append(f"{reader.name} stopped: {type(error).__name__}: {error}")

    progress_task = asyncio.create_task(_print_progress(readers[0].timings))
    await asyncio.gather(*(run_reader(reader) for reader in readers))
    progress_task.cancel()


async def _print_progress(timings: ReaderTimings) -> None:
    while True:
        await asyncio.sleep(60)
        print(
            f"  {len(timings.acknowledged):6,} saved, p95 so far {percentile(timings.saves, 95):.3f} s, "
            f"load {os.getloadavg()[0]:.1f}",
            flush=True,
        )


def _check_database(
    workspace: SoakWorkspace, timings: ReaderTimings, *, seconds: float, cpu: float
) -> ReaderOutcome:
    verdict = VerdictRow
    with read_only_session(workspace.engine) as db:
        saved_rows = db.execute(select(verdict.person_id, verdict.question_id, verdict.comment)).all()
        audit_count = db.execute(
            select(func.count()).select_from(AuditRow).where(AuditRow.what == GIVE_VERDICT)
        ).scalar_one()
    saved_counts = Counter((row.person_id, row.question_id) for row in saved_rows)
    comments = {(row.person_id, row.question_id): row.comment for row in saved_rows}
    unchanged = [key for key, comment in timings.acknowledged.items() if comments.get(key) == comment]
    return ReaderOutcome(
        timings=timings,
        lost=len(timings.acknowledged) - len(unchanged),
        duplicated=sum(count - 1 for count in saved_counts.values()),
        unexplained=len(set(saved_counts) - set(timings.acknowledged)),
        without_audit=abs(len(saved_rows) - audit_count),
        faults=count_logged_exceptions(workspace),
        seconds=seconds,
        cpu=cpu,
    )


def percentile(times: Sequence[float], percent: int) -> float:
    """Compute a percentile by nearest rank, in the unit of ``times``; NaN if there are no times."""
    sorted_times = sorted(times)
    return sorted_times[max(0, -(-percent * len(sorted_times) // 100) - 1)] if sorted_times else float("nan")


def _print_outcome(outcome: ReaderOutcome, expected: int) -> None:
    timings = outcome.timings
    print(f"\n{'seconds':36} {'n':>7} {'median':>8} {'p95':>8} {'longest':>8}")
    rows = (
        ("save, until it is acknowledged", timings.saves, TARGET_SECONDS),
        ("Draft saved", timings.drafts, None),
        ("run of the page's script", timings.runs, None),
        ("sign-in, all at once", timings.sign_ins, None),
    )
    for name, times, target in rows:
        if times:
            p95 = percentile(times, 95)
            target_note = "" if target is None else f"   p95 <= {target} {'' if p95 <= target else 'MISSED'}"
            median = statistics.median(times)
            print(f"{name:36} {len(times):7,} {median:8.3f} {p95:8.3f} {max(times):8.3f}{target_note}")
    print(
        f"\nacknowledged {len(timings.acknowledged):,} of {expected:,} · lost {outcome.lost}"
        f" · double {outcome.duplicated} · never acknowledged {outcome.unexplained}"
        f" · without audit row {outcome.without_audit}"
        f"\nsent twice at once {timings.duplicate_posts:,} · sent again {timings.retries:,} · problems "
        f"{len(timings.problems)} · exceptions in the log {outcome.faults} · {outcome.seconds:.0f} s"
        f" · load at the end {os.getloadavg()[0]:.1f}"
        f"\nprocessor time of the app's processes {outcome.cpu:.0f} s, start and sign-ins included: "
        f"{1000 * outcome.cpu / max(1, len(timings.acknowledged)):.0f} ms per verdict"
    )
    for problem, count in Counter(timings.problems).most_common(10):
        print(f"  {count} x {problem}")


if __name__ == "__main__":
    sys.exit(main())
