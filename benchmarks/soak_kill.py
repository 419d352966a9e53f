"""kill -9 at random points while verdicts are posted: the app, or PostgreSQL under it.

A few reviewers post verdicts without a pause, through the form's own route, and resend what was not
acknowledged, as the form does. Meanwhile the app's process is killed with SIGKILL and started again, or all
processes of the PostgreSQL server are. Afterwards, every acknowledged verdict must be saved unchanged, every
saved verdict must have its audit entry, the audit trail must verify, and the database's integrity check must
pass.

``python -m benchmarks.soak_kill [--kills 200] [--postgres-kills 50] [--minutes N] [--reviewers 4]`` kills the
app on SQLite, then PostgreSQL under a running app; 0 leaves one out. It prints the figures and exits 1 if a
target is missed. ``--minutes`` ends each of the two after that time, with the kills so far.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import inspect, select
from sqlalchemy.exc import DBAPIError

from accounts.service import command_line_person
from accounts.service.audit_trail import verify_audit
from benchmarks.soak_poster import PATIENCE, Reviewer, Seen
from benchmarks.soak_victims import App, Postgres
from benchmarks.soak_world import Place, furnish, place_on, sqlite_place
from storage.rows import VerdictRow
from storage.unit_of_work import reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The content of the database afterwards; ``faults`` as text."""

    kills: int
    acknowledged: int
    saved: int
    unanswered: int
    entries: int
    seconds: float
    faults: tuple[str, ...]


def soak(
    place: Place,
    *,
    kills: int,
    reviewers: int,
    port: int,
    postgres: Postgres | None = None,
    seconds: float | None = None,
    seed: int = 1,
) -> Outcome:
    """Kill the app, or PostgreSQL if one is given, that many times; then check the database.

    ``seconds`` ends it earlier, with the kills so far.
    """
    names = furnish(place, reviewers=reviewers, questions_each=max(40, kills * 10), per_exam=40)
    chance, seen, stop = random.Random(seed), Seen(), threading.Event()
    app, begun = App(place, port), time.perf_counter()
    try:
        app.start()
        people = [Reviewer(name, place, app.address, seen, stop) for name in names]
        for each in people:
            each.start()
        done = 0
        while done < kills and (seconds is None or time.perf_counter() - begun < seconds):
            _until_more(seen, stop)
            time.sleep(chance.uniform(0.0, 0.4))
            (postgres or app).kill()
            (postgres or app).start()
            done += 1
            if done % 10 == 0:
                acknowledged = f"{len(seen.acknowledged):,} verdicts acknowledged"
                print(f"  {done} of {kills} kills, {acknowledged}", file=sys.stderr, flush=True)
        _until_more(seen, stop)  # work continues after the last kill
        stop.set()
        for each in people:
            each.join(PATIENCE + 10)
    finally:
        app.close()
    return _held_against(place, seen, kills=done, seconds=time.perf_counter() - begun)


def _until_more(seen: Seen, stop: threading.Event) -> None:
    """Wait for one more acknowledged verdict, so that the kill hits work and not a start."""
    before, patience = len(seen.acknowledged), time.monotonic() + 300
    while len(seen.acknowledged) == before:
        if stop.is_set() or time.monotonic() > patience:
            raise RuntimeError(f"work did not go on: {seen.refused[:3]}")
        time.sleep(0.01)


def _held_against(place: Place, seen: Seen, *, kills: int, seconds: float) -> Outcome:
    place.engine.dispose()
    with reading(place.engine) as db:
        saved = {
            (row.person_id, row.question_id): row.comment for row in db.execute(select(VerdictRow)).scalars()
        }
        trail = verify_audit(db, by=command_line_person())
    faults = [f"lost: {key}" for key, comment in seen.acknowledged.items() if saved.get(key) != comment]
    faults += [f"refused: {each}" for each in seen.refused]
    if trail.fault:
        faults.append(f"audit trail, entry {trail.number}: {trail.fault}")
    faults += _broken(place)
    return Outcome(
        kills=kills, acknowledged=len(seen.acknowledged), saved=len(saved), unanswered=seen.unanswered,
        entries=trail.entries, seconds=seconds, faults=tuple(faults),
    )  # fmt: skip


def _broken(place: Place) -> list[str]:
    """Failures of the database's integrity check: on SQLite pages and references, else pages and indexes.

    PostgreSQL verifies the checksum of each page that it reads, and rebuilding a unique index detects
    duplicates; its extension amcheck, which would check more, is not in the wheel's server.
    """
    sqlite = place.engine.dialect.name == "sqlite"
    # REINDEX SCHEMA cannot run in a transaction.
    engine = place.engine if sqlite else place.engine.execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        if sqlite:
            found = [row[0] for row in connection.exec_driver_sql("PRAGMA integrity_check")]
            loose = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
            return [each for each in found if each != "ok"] + [f"loose reference: {row}" for row in loose]
        try:
            for table in inspect(connection).get_table_names():
                connection.exec_driver_sql(f'SELECT count(t::text) FROM "{table}" t')
            connection.exec_driver_sql("REINDEX SCHEMA public")
        except DBAPIError as error:
            return [f"PostgreSQL: {error.orig}"]
    return []


@contextmanager
def sqlite_soak(home: Path) -> Iterator[tuple[Place, None]]:
    """SQLite: the app is killed."""
    with sqlite_place(home) as place:
        yield place, None


@contextmanager
def postgres_soak(home: Path) -> Iterator[tuple[Place, Postgres]]:
    """PostgreSQL: the server is killed."""
    server = Postgres(home)
    try:
        for place in place_on(home, server.url):
            yield place, server
    finally:
        server.close()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200, help="of the app, on SQLite")
    parser.add_argument("--postgres-kills", type=int, default=50, help="of PostgreSQL under the app")
    parser.add_argument("--minutes", type=float, help="end each of the two after so long")
    parser.add_argument("--reviewers", type=int, default=4)
    parser.add_argument("--port", type=int, default=8721)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(arguments)
    whole = True
    wanted: list[tuple[str, int, Callable[..., Any]]] = [
        ("the app on SQLite", args.kills, sqlite_soak),
        ("PostgreSQL", args.postgres_kills, postgres_soak),
    ]
    for what, kills, opened in wanted:
        if not kills:
            continue
        with (
            tempfile.TemporaryDirectory(prefix="overread-kill-") as folder,
            opened(Path(folder)) as (place, server),
        ):
            found = soak(
                place, kills=kills, reviewers=args.reviewers, port=args.port, postgres=server,
                seconds=args.minutes and 60 * args.minutes, seed=args.seed,
            )  # fmt: skip
        whole &= not found.faults
        print(
            f"{what}, killed {found.kills} times in {found.seconds:.0f} s: {found.acknowledged:,} verdicts "
            f"acknowledged, {found.saved:,} saved, {found.unanswered:,} posts unanswered and sent again, "
            f"{found.entries:,} entries in the audit trail; "
            + ("nothing lost, trail whole, integrity check clean" if not found.faults else "FAULTS:")
        )
        for fault in found.faults[:20]:
            print(f"  {fault}")
    return 0 if whole else 1


if __name__ == "__main__":
    raise SystemExit(main())
