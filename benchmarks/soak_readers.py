"""Many readers at once through the real web server: nothing lost, nothing twice, every save quick.

100 simulated readers sign in at the same moment and give 50 verdicts each, thinking 10 seconds on average
(exponential, seeded). Afterwards the database must contain every acknowledged verdict once, unchanged, each
with its audit entry, and nothing else. Target: 95 of 100 saves within 0.5 seconds, from the request to its
answer. One app process runs on SQLite, or two on PostgreSQL with half of the readers each.

``python -m benchmarks.soak_readers [--postgres] [--readers N] [--verdicts N] [--thinking SECONDS]`` prints
the figures and exits 1 if a target is missed. At 10 seconds a run takes nine minutes; with ``--readers 20
--verdicts 5 --thinking 2`` it takes half a minute. `soak_reader.py` states how a simulated reader differs
from a browser.
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

from benchmarks.soak_reader import Reader, Tally
from benchmarks.soak_world import Place, faults_logged, furnish, postgres_place, served, sqlite_place
from storage import rows
from storage.audit.contents import GIVE_VERDICT
from storage.unit_of_work import reading

MARK = 0.5  # seconds, 95th percentile of a save


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the readers saw, and what the database contains."""

    tally: Tally
    lost: int
    double: int
    other: int
    without_audit: int
    faults: int
    seconds: float
    cpu: float

    @property
    def is_whole(self) -> bool:
        """Whether nothing is lost, duplicated, or unexplained, and every verdict has its audit entry."""
        return not (self.lost or self.double or self.other or self.without_audit)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgres", action="store_true", help="two app processes on PostgreSQL")
    parser.add_argument("--readers", type=int, default=100)
    parser.add_argument("--verdicts", type=int, default=50, help="of each reader")
    parser.add_argument("--thinking", type=float, default=10.0, help="seconds on a question, on average")
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--port", type=int, default=0, help="of the first process; free ones otherwise")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        opened = postgres_place(Path(folder)) if args.postgres else sqlite_place(Path(folder))
        with opened as place:
            outcome = soak(
                place, readers=args.readers, verdicts=args.verdicts, thinking=args.thinking, seed=args.seed,
                processes=2 if args.postgres else 1, port=args.port,
            )  # fmt: skip
    wanted = args.readers * args.verdicts
    _say(outcome, wanted)
    done = outcome.is_whole and len(outcome.tally.acknowledged) == wanted
    return 0 if done and percentile(outcome.tally.saves, 95) <= MARK else 1


def soak(
    place: Place,
    *,
    readers: int,
    verdicts: int,
    thinking: float,
    seed: int = 4,
    processes: int = 1,
    port: int = 0,
) -> Outcome:
    """Fill the empty workspace, let the readers work, and count the content of the database afterwards."""
    names = furnish(place, reviewers=readers, questions_each=verdicts)
    print(
        f"{place.engine.dialect.name}, app processes {processes}: {readers} readers x {verdicts} verdicts, "
        f"{thinking:g} s of thinking, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
        flush=True,
    )
    tally, before = Tally(), _cpu_of_children()
    with served(place, processes=processes, first_port=port) as addresses:
        everybody = [
            Reader(
                name=name, address=addresses[number % len(addresses)], verdicts=verdicts, thinking=thinking,
                seed=seed * 1_000_003 + number, tally=tally,
            )
            for number, name in enumerate(names)
        ]  # fmt: skip
        start = time.perf_counter()
        asyncio.run(_together(everybody))
        seconds = time.perf_counter() - start
    return _counted(place, tally, seconds=seconds, cpu=_cpu_of_children() - before)


def _cpu_of_children() -> float:
    """Processor seconds of the ended processes that were started here, children included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def _together(everybody: list[Reader]) -> None:
    async def working(reader: Reader) -> None:
        try:
            await reader.work()
        except Exception as error:  # noqa: BLE001 - one reader's end is a finding, not the end of all
            reader.tally.troubles.append(f"{reader.name} gave up: {type(error).__name__}: {error}")

    watch = asyncio.create_task(_watch(everybody[0].tally))
    await asyncio.gather(*(working(reader) for reader in everybody))
    watch.cancel()


async def _watch(tally: Tally) -> None:
    while True:
        await asyncio.sleep(60)
        print(
            f"  {len(tally.acknowledged):6,} saved, p95 so far {percentile(tally.saves, 95):.3f} s, "
            f"load {os.getloadavg()[0]:.1f}",
            flush=True,
        )


def _counted(place: Place, tally: Tally, *, seconds: float, cpu: float) -> Outcome:
    verdict = rows.VerdictRow
    with reading(place.engine) as db:
        found = db.execute(select(verdict.person_id, verdict.question_id, verdict.comment)).all()
        audited = db.execute(
            select(func.count()).select_from(rows.AuditRow).where(rows.AuditRow.what == GIVE_VERDICT)
        ).scalar_one()
    there = Counter((row.person_id, row.question_id) for row in found)
    said = {(row.person_id, row.question_id): row.comment for row in found}
    kept = [key for key, comment in tally.acknowledged.items() if said.get(key) == comment]
    return Outcome(
        tally=tally,
        lost=len(tally.acknowledged) - len(kept),
        double=sum(count - 1 for count in there.values()),
        other=len(set(there) - set(tally.acknowledged)),
        without_audit=abs(len(found) - audited),
        faults=faults_logged(place),
        seconds=seconds,
        cpu=cpu,
    )


def percentile(times: Sequence[float], percent: int) -> float:
    """The percentile by nearest rank, in the unit of ``times``; NaN if there are none."""
    ordered = sorted(times)
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)] if ordered else float("nan")


def _say(outcome: Outcome, wanted: int) -> None:
    tally = outcome.tally
    print(f"\n{'seconds':36} {'n':>7} {'median':>8} {'p95':>8} {'longest':>8}")
    lines = (
        ("save, until it is acknowledged", tally.saves, MARK),
        ("draft kept", tally.drafts, None),
        ("run of the page's script", tally.runs, None),
        ("sign-in, all at once", tally.sign_ins, None),
    )
    for name, times, mark in lines:
        if times:
            p95 = percentile(times, 95)
            against = "" if mark is None else f"   p95 <= {mark} {'' if p95 <= mark else 'MISSED'}"
            middle = statistics.median(times)
            print(f"{name:36} {len(times):7,} {middle:8.3f} {p95:8.3f} {max(times):8.3f}{against}")
    print(
        f"\nacknowledged {len(tally.acknowledged):,} of {wanted:,} · lost {outcome.lost}"
        f" · double {outcome.double} · never acknowledged {outcome.other}"
        f" · without audit row {outcome.without_audit}"
        f"\nsent twice at once {tally.sent_twice:,} · sent again {tally.sent_again:,} · troubles "
        f"{len(tally.troubles)} · exceptions in the log {outcome.faults} · {outcome.seconds:.0f} s"
        f" · load at the end {os.getloadavg()[0]:.1f}"
        f"\nprocessor time of the app's processes {outcome.cpu:.0f} s, start and sign-ins included: "
        f"{1000 * outcome.cpu / max(1, len(tally.acknowledged)):.0f} ms a verdict"
    )
    for trouble, count in Counter(tally.troubles).most_common(10):
        print(f"  {count} x {trouble}")


if __name__ == "__main__":
    sys.exit(main())
