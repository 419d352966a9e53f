"""Measures the cost of a verdict with the next question: statements, transactions and CPU time of the app.

The whole app runs in this process, and one signed-in reviewer sends verdicts over HTTP. The CPU time is that
of the process without the sending thread. Target: at most 15 statements in one transaction, plus one
statement in another transaction to look up the sign-in. Run ``python -m benchmarks.verdict [VERDICTS]
[--postgres]``. PostgreSQL is the server of OVERREAD_TEST_POSTGRES_URL, or else one that is started from the
development wheel.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from benchmarks.soak_poster import PostedVerdicts, Reviewer
from benchmarks.soak_world import (
    SoakWorkspace,
    fill_workspace,
    find_free_port,
    open_postgres_workspace,
    open_sqlite_workspace,
)
from tests.storage.statements import count_statements

VERDICTS, WARM_UP = 200, 10
MAX_STATEMENTS, MAX_TRANSACTIONS = 15 + 1, 1 + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCost:
    """The cost of one verdict; ``cpu`` is the user and system time in milliseconds."""

    statements: int
    transactions: int
    cpu: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verdicts", nargs="?", type=int, default=VERDICTS)
    parser.add_argument("--postgres", action="store_true", help="on PostgreSQL instead of SQLite")
    args = parser.parse_args()
    logging.disable(logging.INFO)  # the app logs a line for each request
    open_workspace = open_postgres_workspace if args.postgres else open_sqlite_workspace
    with tempfile.TemporaryDirectory() as folder, open_workspace(Path(folder)) as workspace:
        [name] = fill_workspace(workspace, reviewers=1, questions_each=WARM_UP + args.verdicts)
        with _serve_in_thread(workspace) as address:
            costs = _measure_costs(Reviewer(name, workspace, address, PostedVerdicts(), threading.Event()))
        print(f"{workspace.engine.dialect.name}, {len(costs)} verdicts with the next question, over HTTP")
    _print_figures("statements", [cost.statements for cost in costs], f"target: at most {MAX_STATEMENTS}")
    _print_figures(
        "transactions", [cost.transactions for cost in costs], f"target: at most {MAX_TRANSACTIONS}"
    )
    _print_figures("CPU time, ms", [cost.cpu for cost in costs])


def _measure_costs(reviewer: Reviewer) -> list[VerdictCost]:
    costs = []
    for question in reviewer.questions:
        with count_statements() as counts:
            cpu_before = _cpu_of_other_threads()
            if not reviewer.post_verdict(question, "what a verdict costs"):
                raise SystemExit(f"verdict on question {question} was not saved")
            cpu = _cpu_of_other_threads() - cpu_before
        costs.append(
            VerdictCost(statements=len(counts.statements), transactions=counts.transactions, cpu=cpu * 1000)
        )
    return costs[WARM_UP:]


def _cpu_of_other_threads() -> float:
    return time.process_time() - time.thread_time()


@contextmanager
def _serve_in_thread(workspace: SoakWorkspace) -> Iterator[str]:
    """Run the app on a workspace in a thread of this process; return its address."""
    os.environ |= workspace.environment
    from app import app  # noqa: PLC0415 - the environment must name the workspace first

    port = find_free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise SystemExit("the app did not start")
        time.sleep(0.05)
    yield f"http://localhost:{port}"
    server.should_exit = True
    thread.join()


def _print_figures(label: str, values: Sequence[float], target_note: str = "") -> None:
    sorted_values = sorted(values)
    percentile_95 = sorted_values[int(0.95 * (len(sorted_values) - 1))]
    print(
        f"  {label:20} median {statistics.median(values):6.1f}   95th percentile {percentile_95:6.1f}  "
        f" {target_note}".rstrip()
    )


if __name__ == "__main__":
    main()
