"""Kills the app or its PostgreSQL server (kill -9) at random moments while verdicts are posted.

A few reviewers post verdicts without pauses through the form's route. Like the form, they resend verdicts
that were not acknowledged. Meanwhile, the app's process or all processes of the PostgreSQL server are killed
with SIGKILL and started again. Afterwards, all acknowledged verdicts must be saved unchanged, all saved
verdicts must have their audit entry, the audit trail must verify, and the database's integrity check must
pass.

``python -m benchmarks.soak_kill [--kills 200] [--postgres-kills 50] [--minutes N] [--reviewers 4]`` kills the
app on SQLite, then PostgreSQL under a running app. A count of 0 leaves that part out. It prints the results
and exits with 1 if a target is missed. ``--minutes`` ends each part after that time.
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
from benchmarks.soak_poster import TIMEOUT_SECONDS, PostedVerdicts, Reviewer
from benchmarks.soak_processes import KillableApp, KillablePostgres
from benchmarks.soak_world import SoakWorkspace, fill_workspace, open_sqlite_workspace, open_workspace
from storage.rows.verdicts import VerdictRow
from storage.unit_of_work import read_only_session


@dataclass(frozen=True, slots=True, kw_only=True)
class KillOutcome:
    """The content of the database after the kills, and ``faults`` as text."""

    kills: int
    acknowledged: int
    saved: int
    unanswered: int
    audit_entries: int
    seconds: float
    faults: tuple[str, ...]


def kill_repeatedly(
    workspace: SoakWorkspace,
    *,
    kills: int,
    reviewers: int,
    port: int,
    postgres: KillablePostgres | None = None,
    seconds: float | None = None,
    seed: int = 1,
) -> KillOutcome:
    """Kill the app, or PostgreSQL if it is given, repeatedly; then check the database.

    The kills end after ``seconds``, even if there were fewer than ``kills``.
    """
    names = fill_workspace(workspace, reviewers=reviewers, questions_each=max(40, kills * 10), per_exam=40)
    rng, posted, stop_event = random.Random(seed), PostedVerdicts(), threading.Event()
    app, start = KillableApp(workspace, port), time.perf_counter()
    try:
        app.start()
        reviewer_threads = [Reviewer(name, workspace, app.address, posted, stop_event) for name in names]
        for reviewer in reviewer_threads:
            reviewer.start()
        kill_count = 0
        while kill_count < kills and (seconds is None or time.perf_counter() - start < seconds):
            _wait_for_verdict(posted, stop_event)
            time.sleep(rng.uniform(0.0, 0.4))
            (postgres or app).kill()
            (postgres or app).start()
            kill_count += 1
            if kill_count % 10 == 0:
                acknowledged = f"{len(posted.acknowledged):,} verdicts acknowledged"
                print(f"  {kill_count} of {kills} kills, {acknowledged}", file=sys.stderr, flush=True)
        _wait_for_verdict(posted, stop_event)  # work continues after the last kill
        stop_event.set()
        for reviewer in reviewer_threads:
            reviewer.join(TIMEOUT_SECONDS + 10)
    finally:
        app.close()
    return _check_database(workspace, posted, kills=kill_count, seconds=time.perf_counter() - start)


def _wait_for_verdict(posted: PostedVerdicts, stop_event: threading.Event) -> None:
    """Wait for one more acknowledged verdict, so that the kill happens during work and not at a start."""
    count_before, deadline = len(posted.acknowledged), time.monotonic() + 300
    while len(posted.acknowledged) == count_before:
        if stop_event.is_set() or time.monotonic() > deadline:
            raise RuntimeError(f"no further verdict was acknowledged: {posted.refused[:3]}")
        time.sleep(0.01)


def _check_database(
    workspace: SoakWorkspace, posted: PostedVerdicts, *, kills: int, seconds: float
) -> KillOutcome:
    workspace.engine.dispose()
    with read_only_session(workspace.engine) as db:
        comments = {
            (row.person_id, row.question_id): row.comment for row in db.execute(select(VerdictRow)).scalars()
        }
        audit_check = verify_audit(db, by=command_line_person())
    faults = [f"lost: {key}" for key, comment in posted.acknowledged.items() if comments.get(key) != comment]
    faults += [f"refused: {refusal}" for refusal in posted.refused]
    if audit_check.fault:
        faults.append(f"audit trail, entry {audit_check.number}: {audit_check.fault}")
    faults += _list_integrity_failures(workspace)
    return KillOutcome(
        kills=kills, acknowledged=len(posted.acknowledged), saved=len(comments), unanswered=posted.unanswered,
        audit_entries=audit_check.entries, seconds=seconds, faults=tuple(faults),
    )  # fmt: skip


def _list_integrity_failures(workspace: SoakWorkspace) -> list[str]:
    """List the failures of the database's integrity check.

    On SQLite, pages and references are checked. PostgreSQL verifies the checksum of each page that it reads,
    and rebuilding a unique index detects duplicates. The extension amcheck would check more, but is not part
    of the wheel's server.
    """
    is_sqlite = workspace.engine.dialect.name == "sqlite"
    # REINDEX SCHEMA cannot run in a transaction.
    engine = (
        workspace.engine if is_sqlite else workspace.engine.execution_options(isolation_level="AUTOCOMMIT")
    )
    with engine.connect() as connection:
        if is_sqlite:
            check_results = [row[0] for row in connection.exec_driver_sql("PRAGMA integrity_check")]
            broken_references = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
            return [check_result for check_result in check_results if check_result != "ok"] + [
                f"broken reference: {row}" for row in broken_references
            ]
        try:
            for table in inspect(connection).get_table_names():
                connection.exec_driver_sql(f'SELECT count(t::text) FROM "{table}" t')
            connection.exec_driver_sql("REINDEX SCHEMA public")
        except DBAPIError as error:
            return [f"PostgreSQL: {error.orig}"]
    return []


@contextmanager
def open_sqlite_soak(home: Path) -> Iterator[tuple[SoakWorkspace, None]]:
    """Open a workspace on SQLite, where the app is killed."""
    with open_sqlite_workspace(home) as workspace:
        yield workspace, None


@contextmanager
def open_postgres_soak(home: Path) -> Iterator[tuple[SoakWorkspace, KillablePostgres]]:
    """Open a workspace on PostgreSQL, where the server is killed."""
    server = KillablePostgres(home)
    try:
        for workspace in open_workspace(home, server.url):
            yield workspace, server
    finally:
        server.close()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200, help="number of kills of the app on SQLite")
    parser.add_argument(
        "--postgres-kills", type=int, default=50, help="number of kills of PostgreSQL under the app"
    )
    parser.add_argument("--minutes", type=float, help="maximum duration of each of the two")
    parser.add_argument("--reviewers", type=int, default=4)
    parser.add_argument("--port", type=int, default=8721)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(arguments)
    all_passed = True
    soaks: list[tuple[str, int, Callable[..., Any]]] = [
        ("the app on SQLite", args.kills, open_sqlite_soak),
        ("PostgreSQL", args.postgres_kills, open_postgres_soak),
    ]
    for title, kills, open_soak in soaks:
        if not kills:
            continue
        with (
            tempfile.TemporaryDirectory(prefix="overread-kill-") as folder,
            open_soak(Path(folder)) as (workspace, server),
        ):
            outcome = kill_repeatedly(
                workspace, kills=kills, reviewers=args.reviewers, port=args.port, postgres=server,
                seconds=args.minutes and 60 * args.minutes, seed=args.seed,
            )  # fmt: skip
        all_passed &= not outcome.faults
        print(
            f"{title}, killed {outcome.kills} times in {outcome.seconds:.0f} s: {outcome.acknowledged:,}"
            f" verdicts acknowledged, {outcome.saved:,} saved, {outcome.unanswered:,} posts unanswered and"
            f" sent again, {outcome.audit_entries:,} entries in the audit trail; "
            + (
                "nothing lost, audit trail verified, integrity check passed"
                if not outcome.faults
                else "FAULTS:"
            )
        )
        for fault in outcome.faults[:20]:
            print(f"  {fault}")
    return 0 if all_passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
