"""Imports hostile question files with the import service into a real database; each import is rolled back."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

from sqlalchemy import func, select
from sqlmodel import Session

import intake.service as intake
from accounts.service import command_line_person
from benchmarks.soak_results import MAX_SECONDS, SoakResults
from domain.errors import DomainError
from intake.parsing import parse_batches
from storage.engine import make_engine
from storage.rows.datasets import DatasetRow, ExamRow, ImportRow, QuestionRow
from storage.schema import upgrade
from storage.unit_of_work import unit_of_work
from storage.workspace import Workspace
from tests.golden.question_files import write_image

NOW = datetime(2026, 1, 5, tzinfo=UTC)
_TABLES = (DatasetRow, ImportRow, ExamRow, QuestionRow)


class RollBack(Exception):
    """Raised to roll back an import whose rows were counted."""


class SoakImporter:
    """A workspace with one image, and a database that is empty before and after each file."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.images = home / "images"
        write_image(self.images / "pa.png", 100, 80, "L")
        self.engine = make_engine(f"sqlite:///{home / 'soak.sqlite'}")
        upgrade(self.engine)
        self.workspace = Workspace(home=home / "workspace", database_url="")
        self.file = home / "questions.json"

    def import_file(
        self, content: bytes, name: str, results: SoakResults, *, parse_in_child_process: bool
    ) -> bool:
        """Import a file and roll back; return whether anything would have been imported."""
        self.file.write_bytes(content)
        start, was_imported = time.monotonic(), False
        try:
            with (
                _time_limit(not parse_in_child_process),
                _parse_in_this_process(not parse_in_child_process),
                unit_of_work(self.engine) as db,
            ):
                report = intake.import_questions(
                    db, by=command_line_person(), path=self.file, dataset="soak", workspace=self.workspace,
                    images=self.images if len(content) < 5_000 and parse_in_child_process else None, now=NOW,
                )  # fmt: skip
                was_imported = True
                if _count_rows(db, QuestionRow) != report.questions or report.refused:
                    results.record_fault(
                        f"{name}: {report.questions} reported, {_count_rows(db, QuestionRow)} in the database"
                    )
                raise RollBack
        except RollBack:
            outcome = "accepted"
        except DomainError:
            outcome = "refused"
        except Exception as error:  # noqa: BLE001 - any other error is a fault
            outcome = "fault"
            results.record_fault(f"{name}: {type(error).__name__}: {str(error)[:200]}")
        seconds = time.monotonic() - start
        results.record_duration(name, seconds)
        results.record_outcome(outcome, wait_seconds=seconds)
        with Session(self.engine) as db:
            leftovers = {
                table.__tablename__: _count_rows(db, table) for table in _TABLES if _count_rows(db, table)
            }
        if leftovers:
            results.record_fault(f"{name}: left behind {leftovers}")
        return was_imported

    def preview_file(self, name: str, results: SoakResults) -> None:
        """Preview the current file as the page does."""
        try:
            intake.preview_file(by=command_line_person(), path=self.file, images=self.images)
        except DomainError:
            pass
        except Exception as error:  # noqa: BLE001 - any other error is a fault
            results.record_fault(f"{name}, preview: {type(error).__name__}: {str(error)[:200]}")


def _count_rows(db: Session, table: type[Any]) -> int:
    return int(db.execute(select(func.count()).select_from(table)).scalar_one())


@contextmanager
def _parse_in_this_process(is_enabled: bool) -> Iterator[None]:
    if not is_enabled:
        yield
        return
    with mock.patch.object(intake, "parse_batches_in_process", parse_batches):
        yield


@contextmanager
def _time_limit(is_enabled: bool) -> Iterator[None]:
    """Limit code in this process to ten seconds."""

    def raise_timeout(_signal: int, _frame: object) -> NoReturn:
        raise TimeoutError(f"more than {MAX_SECONDS} s")

    if not is_enabled:
        yield
        return
    previous_handler = signal.signal(signal.SIGALRM, raise_timeout)
    signal.alarm(MAX_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous_handler)
