"""Makes a workspace for ``benchmarks.viewer``: 24 exams of 2500 x 3000 12-bit pixels, a batch, people.

Four phantoms are rendered. The other exams are copies that are shifted by some pixels, so that all files have
different pixels and the generation takes one minute instead of ten. The workspace is kept in a folder. Each
run starts with a new copy of its database and an empty cache.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from accounts.service import add_person, command_line_person
from demo.phantom import PhantomExam, View
from demo.phantom.dicom import TransferSyntax, write_dicom
from demo.phantom.render import render_exam
from domain.batches import SamplingPlan
from domain.people import Role
from intake.service import import_questions
from review.service import assign
from sampling.service import draw_batch
from storage.engine import make_engine
from storage.schema import upgrade
from storage.unit_of_work import unit_of_work
from storage.workspace import Workspace

EXAMS, RENDERED = 24, 4
ROWS, COLUMNS = 3000, 2500
PASSWORD = "a password for figures"  # noqa: S105 - of people who are made up
#: One reviewer per round, each with all questions, because a judged question is not shown again.
PEOPLE = ("first", "cold", "ahead", "hand", "entry", "plain", "plainhand")
_BATCH = "Figures"
_DATABASE, _PRISTINE_DATABASE = "overread.sqlite", "as-made.sqlite"
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def prepare_workspace(home: Path) -> Workspace:
    """Reset the workspace in a folder to its initial state; create it if it does not exist."""
    workspace = Workspace(home=home, database_url=f"sqlite:///{home / _DATABASE}")
    pristine = home / _PRISTINE_DATABASE
    for suffix in ("", "-wal", "-shm"):
        (home / (_DATABASE + suffix)).unlink(missing_ok=True)
    if not pristine.exists():
        print(f"Making {EXAMS} exams in {home} (once)", flush=True)
        _create_workspace(workspace)
        shutil.copyfile(home / _DATABASE, pristine)
    else:
        shutil.copyfile(pristine, home / _DATABASE)
    shutil.rmtree(workspace.cache, ignore_errors=True)
    return workspace


def _create_workspace(workspace: Workspace) -> None:
    source = workspace.home / "source"
    shutil.rmtree(source, ignore_errors=True)
    file = _write_source(source)
    engine = make_engine(workspace.database_url)
    by = command_line_person()
    try:
        upgrade(engine)
        with unit_of_work(engine) as db:
            for name in PEOPLE:
                add_person(
                    db, by=by, name=name, display_name=name.title(), roles=[Role.REVIEWER],
                    password=PASSWORD, demo=False, now=NOW,
                )  # fmt: skip
            import_questions(
                db, by=by, path=file, file_format="native", dataset=_BATCH, images=source,
                workspace=workspace, now=NOW,
            )  # fmt: skip
            plan = SamplingPlan(seed=1, per_1000=1000)
            draw_batch(db, by=by, dataset=_BATCH, plan=plan, batch_name=_BATCH, now=NOW)
            assign(db, by=by, batch=_BATCH, to=PEOPLE, overlap=len(PEOPLE), now=NOW)
    finally:
        engine.dispose()  # closing the last connection merges the write-ahead log into the file
    shutil.rmtree(source)


def _write_source(folder: Path) -> Path:
    """Write images and a question file: one question per exam, and a lateral view in every second exam."""
    rendered = [
        render_exam(seed, sex="FM"[seed % 2], age=50 + seed, rows=ROWS, columns=COLUMNS)
        for seed in range(RENDERED)
    ]
    lines = []
    for number in range(EXAMS):
        exam = _shift_exam(rendered[number % RENDERED], shift=number // RENDERED, has_lateral=number % 2 == 1)
        files = write_dicom(
            exam, folder / f"E{number}", transfer_syntax=TransferSyntax.EXPLICIT, monochrome1=False
        )
        lines.append(json.dumps(_build_question_record(number, [f"E{number}/{file.name}" for file in files])))
    path = folder / "questions.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _shift_exam(exam: PhantomExam, *, shift: int, has_lateral: bool) -> PhantomExam:
    images = tuple(replace(image, pixels=np.roll(image.pixels, 3 * shift, axis=1)) for image in exam.images)
    return replace(exam, images=images if has_lateral else tuple(i for i in images if i.view is View.PA))


def _build_question_record(number: int, files: list[str]) -> dict[str, object]:
    return {
        "id": f"Q{number:02d}",
        "exam": {
            "id": f"E{number}",
            "patient": f"P{number}",
            "indication": "Cough for two weeks.",
            "age": "061Y",
            "sex": "F",
            "radiographs": [
                {"id": name.lower(), "file": file, "view": name}
                for name, file in zip(("PA", "LATERAL"), files, strict=False)
            ],
        },
        "format": "single",
        "stem": f"Which finding does examination {number:02d} show?",
        "options": ["Nodule", "Effusion", "Pneumothorax", "No finding"],
        "answer": [3],
        "explanation": "Both lungs are clear, the costophrenic angles are sharp, the heart is not enlarged.",
        "boxes": [{"radiograph": "pa", "label": "heart", "box": [900, 1500, 1500, 2100]}],
        "task": "presence",
        "content_type": None,
        "category": "lung",
        "subcategory": None,
        "difficulty": "easy",
        "report": "No acute finding.",
    }
