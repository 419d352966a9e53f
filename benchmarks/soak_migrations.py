"""Tests migrations down and up, step by step, on a workspace of 100,000 rows on both databases.

    python -m benchmarks.soak_migrations [--rows 100000] [--database sqlite|postgresql]

Target: after each step, the rows of all tables of the first migration are unchanged, in the columns that
exist both in the first and in the latest version. At the end, the database has the same triggers and indexes
as at the start. The duration of each step is printed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.soak_world import open_postgres_workspace, open_sqlite_workspace
from tests.storage.migration_walk import fill_database, walk_migrations

#: Approximate number of rows that ``fill_database`` writes for one question.
_ROWS_PER_QUESTION = 6.8
_JUDGED_QUESTIONS = 500


class _StepTimer:
    """Prints each step with its duration."""

    def __init__(self, name: str) -> None:
        self._name, self._previous_time = name, time.monotonic()

    def __call__(self, step: str, rows: int) -> None:
        now = time.monotonic()
        print(
            f"{self._name}: {step:12} {rows:,} rows the same, {now - self._previous_time:5.1f} s", flush=True
        )
        self._previous_time = now


def main() -> int:
    """Return 0 if nothing changed and at least ``--rows`` rows were compared, otherwise 1."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], help="only this one")
    args = parser.parse_args()
    open_workspace = {"sqlite": open_sqlite_workspace, "postgresql": open_postgres_workspace}
    for name in [args.database] if args.database else open_workspace:
        with tempfile.TemporaryDirectory() as folder, open_workspace[name](Path(folder)) as workspace:
            started = time.monotonic()
            fill_database(
                workspace.engine,
                questions=round(args.rows / _ROWS_PER_QUESTION),
                judged_count=_JUDGED_QUESTIONS,
            )
            print(f"{name}: filled in {time.monotonic() - started:.0f} s", flush=True)
            try:
                rows = walk_migrations(workspace.engine, report=_StepTimer(name))
            except AssertionError as error:
                print(f"{name}: {error}", file=sys.stderr)
                return 1
            print(f"{name}: {rows:,} rows, down and up: none changed")
            if rows < args.rows:
                print(f"{name}: only {rows:,} rows of {args.rows:,}", file=sys.stderr)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
