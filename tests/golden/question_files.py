"""Question files of the published formats, edge cases included, and their expected import: ``expected.json``.

The texts are invented, and the images are generated here. After an intended change run ``python -m
tests.golden.question_files`` and review the difference.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sqlalchemy import Engine, select

from accounts.service import command_line_person
from intake.service import import_questions
from storage.engine import make_engine
from storage.intake.exams import load_exam
from storage.intake.questions import load_questions
from storage.rows.datasets import QuestionRow
from storage.schema import upgrade
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace

GOLDEN_FOLDER = Path(__file__).resolve().parent
NOW = datetime(2026, 3, 2, tzinfo=UTC)
#: folder -> (question files, image files with rows x columns and kind)
SAMPLE_FOLDERS: dict[str, tuple[list[str], dict[str, tuple[int, int, str]]]] = {
    "native": (
        ["questions.jsonl"],
        {
            "exam-1/pa.png": (100, 100, "L"),
            "exam-1/lat.png": (100, 80, "L"),
            # as macOS stores the name: decomposed Unicode, whereas the text in the file is composed
            "e\u0301tude/ap.jpg": (60, 50, "L"),
        },
    ),
    "rexvqa": (
        ["metadata/test_vqa_data.json"],
        {
            "deid_png/GRDN001/GRDNACC1/studies/1.2.3/series/1.2.3.4/instances/1.2.3.4.1.png": (
                100,
                80,
                "I;16",
            ),
            "deid_png/GRDN001/GRDNACC1/studies/1.2.3/series/1.2.3.5/instances/1.2.3.5.1.png": (
                90,
                80,
                "I;16",
            ),
            "deid_png/GRDN002/only.png": (50, 40, "I;16"),
        },
    ),
    "gemex": (
        ["closed_ended.jsonl", "single_choice.jsonl", "multi_choice.jsonl", "open_ended.jsonl"],
        {"p10/p10000032/s50414267/02aa804e-bde0afdd.jpg": (3056, 2544, "L")},
    ),
    "gemex_train": (["train.json"], {"p10/p10000032/s50414267/02aa804e-bde0afdd.jpg": (3056, 2544, "L")}),
    "vqa_rad": (["chest.json"], {"synpic1.png": (20, 30, "L"), "synpic2.png": (21, 31, "L")}),
}


def import_sample(sample: str, engine: Engine, folder: Path) -> dict[str, Any]:
    """Import the files of a sample folder; return the stored questions and their exams as plain values."""
    files, images = SAMPLE_FOLDERS[sample]
    for name, (rows, columns, mode) in images.items():
        write_image(folder / name, rows, columns, mode)
    for file in files:
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((GOLDEN_FOLDER / sample / file).read_bytes())
        with unit_of_work(engine) as db:
            import_questions(
                db,
                by=command_line_person(),
                path=target,
                dataset=sample,
                images=folder,
                workspace=Workspace(home=folder / "workspace", database_url=str(engine.url)),
                now=NOW,
            )
    with read_only_session(engine) as db:
        exam_ids = dict(db.execute(select(QuestionRow.id, QuestionRow.exam_id)).all())
        questions = [asdict(question) for _, question in load_questions(db, question_ids=exam_ids)]
        exams = [
            asdict(load_exam(db, exam_id=exam_id, with_report=True))
            for exam_id in sorted(set(exam_ids.values()))
        ]
    for exam in exams:
        for radiograph in exam["radiographs"]:
            # Another version of the image library writes different bytes.
            radiograph["sha256"] = "there" if radiograph["sha256"] else None
    return json.loads(json.dumps({"questions": questions, "exams": exams}))


def write_image(path: Path, rows: int, columns: int, mode: str) -> None:
    """Write a grey ramp, which differs by image size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    ramp = np.linspace(0, 255 if mode == "L" else 65535, columns)
    pixels = np.tile(ramp, (rows, 1)).astype(np.uint8 if mode == "L" else np.uint16)
    Image.fromarray(pixels).save(path)


def main() -> None:
    for sample in SAMPLE_FOLDERS:
        with tempfile.TemporaryDirectory() as folder:
            engine = make_engine(f"sqlite:///{folder}/overread.sqlite")
            upgrade(engine)
            imported = import_sample(sample, engine, Path(folder) / "files")
            engine.dispose()
        text = json.dumps(imported, indent=1, ensure_ascii=False) + "\n"
        (GOLDEN_FOLDER / sample / "expected.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
