"""Measures GEMeX's recipe over many synthetic reports: killed in each stage, resumed, imported.

    python -m benchmarks.generation                    # 2,000 reports
    python -m benchmarks.generation --reports 160000   # about two hours on two cores

The server is an echo on this machine whose replies follow every rule, so the figures are those of the client,
the database and the import.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy import Engine, text

from accounts.service import command_line_person
from benchmarks.language_models import ROOT, read_peak_memory, running_server
from domain.language_models import DataUse, Endpoint
from language_models import service as models
from storage.engine import make_engine
from storage.schema import upgrade
from storage.unit_of_work import read_only_session, unit_of_work

_BY = command_line_person()
_SENTENCES = (
    "The heart size is normal.",
    "The mediastinal contours are within normal limits.",
    "There is a small left pleural effusion.",
    "There is streaky opacity at the right lung base.",
    "No pneumothorax is seen.",
    "The trachea is midline.",
    "There are degenerative changes of the thoracic spine.",
    "No focal airspace consolidation is identified.",
)


def write_source(folder: Path, reports: int) -> Path:
    """Write reports of 3 to 6 sentences in Open-i's tables, each with one more sentence of its own."""
    rng = random.Random(1)
    folder.mkdir()
    columns = ("uid", "MeSH", "Problems", "image", "indication", "comparison", "findings", "impression")
    with (
        (folder / "indiana_reports.csv").open("w", encoding="utf-8", newline="") as report_file,
        (folder / "indiana_projections.csv").open("w", encoding="utf-8", newline="") as image_file,
    ):
        report_writer, image_writer = csv.writer(report_file), csv.writer(image_file)
        report_writer.writerow(columns)
        image_writer.writerow(("uid", "filename", "projection"))
        for uid in range(1, reports + 1):
            findings = " ".join(rng.sample(_SENTENCES, rng.randint(3, 6)))
            own_sentence = f"There are {uid} surgical clips."
            report_writer.writerow(
                (uid, "normal", "", "", "Cough.", "", f"{findings} {own_sentence}", "No disease.")
            )
            image_writer.writerow((uid, f"phantom-{uid}.png", "Frontal"))
    return folder


class _Run:
    """The command in a separate process, with its peak memory."""

    def __init__(self, *, database: str, home: Path, source: Path, out: Path) -> None:
        self._environment = {**os.environ, "OVERREAD_HOME": str(home), "OVERREAD_DATABASE_URL": database}
        self._command = [
            sys.executable, "cli.py", "generate", "gemex", "openi-csv", str(source), "--out", str(out),
            "--endpoint", "echo", "--lease", "5", "--dataset", "made", "--without-images",
        ]  # fmt: skip
        self.peak = 0.0

    def run_command(self, should_kill: Callable[[], bool]) -> tuple[float, str]:
        """Run to the end, or kill the process when ``should_kill``; return the seconds and the output."""
        started = time.perf_counter()
        with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
            process = subprocess.Popen(  # noqa: S603 - our own command
                self._command, cwd=ROOT, env=self._environment, stdout=output, stderr=subprocess.STDOUT
            )
            while process.poll() is None and not should_kill():
                self.peak = max(self.peak, read_peak_memory(process.pid))
                time.sleep(0.5)
            process.kill()
            process.wait()
            output.seek(0)
            return time.perf_counter() - started, output.read()


def _has_calls(engine: Engine, calls: int) -> bool:
    return _count_rows(engine, "model_call") >= calls


def _count_rows(engine: Engine, table: str) -> int:
    with read_only_session(engine) as db:
        return int(db.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())


def measure(folder: Path, reports: int) -> None:
    """Run, kill in the middle of each stage, resume, and print the figures."""
    database = f"sqlite:///{folder / 'overread.sqlite'}"
    engine = make_engine(database)
    upgrade(engine)
    source, out = write_source(folder / "source", reports), folder / "questions.jsonl"
    with running_server("recipes") as url:
        endpoint = Endpoint(name="echo", url=url, model="test-model", data_use=DataUse.LOCAL, max_parallel=32)
        with unit_of_work(engine) as db:
            models.save_endpoint(db, by=_BY, endpoint=endpoint, now=datetime.now(UTC))
        run = _Run(database=database, home=folder / "home", source=source, out=out)
        kill_seconds = [
            run.run_command(partial(_has_calls, engine, limit))[0]
            for limit in (reports // 2, reports + reports // 2)  # in the middle of each stage
        ]
        last, output = run.run_command(lambda: False)
    print(output[-1500:])
    calls, questions = _count_rows(engine, "model_call"), _count_rows(engine, "question")
    print(
        f"{reports:,} reports in {sum(kill_seconds) + last:,.0f} s, killed after {kill_seconds[0]:,.0f} and "
        f"{kill_seconds[1]:,.0f} s, the rest with import {last:,.0f} s: {calls:,} calls for "
        f"{2 * reports:,} requests, {questions:,} questions (mark {11 * reports:,}), largest memory "
        f"{run.peak:,.0f} MB, database {(folder / 'overread.sqlite').stat().st_size / 1e6:,.0f} MB, load "
        f"{os.getloadavg()[0]:.1f}"
    )
    engine.dispose()


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=2_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), arguments.reports)


if __name__ == "__main__":
    main()
