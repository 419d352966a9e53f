"""Small question files to import, valid and invalid, and an import into a database of the test's own."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, func, select

from accounts.service import command_line_person
from intake.service import ImportRefused, ImportReport, import_questions
from storage.rows.all_tables import metadata
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.golden.question_files import write_image

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def make_record(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A native record in which no check finds a problem; ``changes`` replace fields, ... removes a field."""
    fields = {
        "id": f"q-{number}",
        "exam": {"id": "e-1", "radiographs": [{"id": "pa", "file": "pa.png", "view": "PA"}]},
        "format": "single",
        "stem": "Which finding is present on this radiograph?",
        "options": ["Effusion", "Pneumothorax", "Consolidation", "Cardiomegaly"],
        "answer": [2],
        "explanation": "An airspace opacity with air bronchograms is seen.",
        "task": "presence",
        "category": "Opacity",
        "difficulty": "easy",
        **changes,
    }
    return {name: value for name, value in fields.items() if value is not ...}


def to_json_lines(*records: dict[str, Any] | str | bytes) -> bytes:
    """A JSON Lines file; text and bytes are written unchanged."""
    texts = [
        record if isinstance(record, str | bytes) else json.dumps(record, ensure_ascii=False)
        for record in records
    ]
    return (
        b"\n".join(content if isinstance(content, bytes) else content.encode() for content in texts) + b"\n"
    )


class Importer:
    """Imports into one database; each import is dated a minute after the previous one."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine, self.folder = engine, folder
        self.images = folder / "images"
        self.workspace = Workspace(home=folder / "workspace", database_url=str(engine.url))
        self._now = NOW
        write_image(self.images / "pa.png", 100, 80, "L")

    def __call__(self, content: bytes | None, name: str = "questions.jsonl", **options: Any) -> ImportReport:
        """Import a file of that content (None: the file does not exist), by default without images.

        Starting the processes that read images takes longer than most of what is tested.
        """
        path = self.folder / name
        if content is not None:
            path.write_bytes(content)
        return self.from_path(path, **options)

    def from_path(self, path: Path, **options: Any) -> ImportReport:
        """Import a file, or a folder of files, where it is."""
        self._now += timedelta(minutes=1)
        arguments = {"dataset": "d", "images": None, **options}
        with unit_of_work(self.engine) as db:
            return import_questions(
                db, by=command_line_person(), path=path, workspace=self.workspace, now=self._now, **arguments
            )

    def refused(self, content: bytes | None, name: str = "questions.jsonl", **options: Any) -> ImportReport:
        """The report of an import that must be refused and must leave the database unchanged."""
        before = self.rows()
        try:
            report = self(content, name, **options)
        except ImportRefused as error:
            assert self.rows() == before
            return error.report
        raise AssertionError(f"the import was not refused: {report}")

    def rows(self) -> dict[str, int]:
        """The number of rows of each table."""
        with read_only_session(self.engine) as db:
            return {
                table.name: db.execute(select(func.count()).select_from(table)).scalar_one()
                for table in metadata.sorted_tables
            }
