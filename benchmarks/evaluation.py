"""Imports answers of models to 41,007 questions, and measures the page "Model scores" with 20 models.

Targets: import of the answers at most 60 s, first look of the page at most 2 s, slices at most 300 ms.
The first ``--imported`` models are imported and scored. The other models get copies of their score files with
some answers exchanged: the page only reads these files. The release is written as a folder with gold.jsonl,
two radiographs per exam and no image files, because nothing is sent to a model here.

Run ``python -m benchmarks.evaluation [--questions N] [--models N] [--imported N]``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np
from sqlalchemy import insert

from accounts.service import command_line_person
from domain.boxes import Box, LabelledBox
from domain.evaluations import AnsweredBy, Condition
from domain.exams import Exam, Radiograph
from domain.questions import Question
from domain.vocabulary import AnswerFormat, Difficulty, Task, View
from evaluation import service as evaluations
from evaluation.paper_tables import build_paper_tables
from evaluation.score_table import DIMENSIONS, decode_scores, encode_scores
from evaluation.scoreboard import compare_models, compute_task_accuracies, find_rows, summarise_models
from evaluation.scores_text import list_group_rows
from records.questions import ExamRecord, exam_to_record, question_to_columns, question_to_record
from release.folder import MANIFEST
from release.manifest import FORMAT
from release.splits import Split
from storage.evaluation import score_files
from storage.rows.datasets import DatasetRow, ExamRow, ImageRow, ImportRow, QuestionRow, RadiographRow
from storage.rows.releases import ReleaseItemRow, ReleaseRow
from storage.schema import prepare_workspace
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import current_workspace

QUESTIONS, MODELS, PER_EXAM = 41_007, 20, 4
CATEGORIES = [f"category {number}" for number in range(65)]
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--models", type=int, default=MODELS)
    parser.add_argument("--imported", type=int, default=MODELS)
    args = parser.parse_args()
    print(f"Load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["OVERREAD_HOME"] = folder
        prepare_workspace()
        questions = make_questions(args.questions)
        make_release(questions, Path(folder) / "release")
        for number in range(args.models):
            plan(f"model {number:02}")
        imported_count = min(args.imported, args.models)
        files = [write_answers(questions, number, Path(folder)) for number in range(imported_count)]
        del questions  # as in a real import, the garbage collector must not visit them
        measure(f"import of {imported_count} models", lambda: import_files(files))
        measure(f"scores of {imported_count} models", compute)
        add_models(args.models)
        measure_page()
    print(f"Load after: {os.getloadavg()[0]:.1f}.")


def measure(name: str, action: Callable[[], object]) -> None:
    wall, cpu = time.perf_counter(), sum(os.times()[:4])  # including the processes that read files
    action()
    print(f"{name}: {time.perf_counter() - wall:.2f} s, {sum(os.times()[:4]) - cpu:.2f} s of CPU", flush=True)


def make_questions(count: int) -> list[Question]:
    rng = random.Random(1)
    box = Box(x_min=100, y_min=100, x_max=300, y_max=300)
    return [
        Question(
            id=f"Q{number}",
            exam_id=f"E{number // PER_EXAM}",
            format=AnswerFormat.SINGLE,
            stem=f"Which finding is on radiograph {number}?",
            options=("Pleural effusion", "Pneumothorax", "Cardiomegaly", "No finding"),
            answer=(rng.randrange(4),),
            explanation="Both costophrenic angles are sharp, the heart is of normal size and there is no "
            "focal consolidation, so that the other options can be excluded.",
            boxes=(LabelledBox(radiograph="pa", label="lung", box=box),),
            task=rng.choice(list(Task)),
            category=rng.choice(CATEGORIES),
            difficulty=rng.choice(list(Difficulty)),
        )
        for number in range(count)
    ]


def make_exam(exam_id: str) -> ExamRecord:
    radiograph = Radiograph(id="pa", file="PA", view=View.PA)
    return exam_to_record(Exam(id=exam_id, radiographs=(radiograph,)), {})


def make_release(questions: list[Question], folder: Path) -> None:
    """Store the dataset and a release of all its questions, which are public."""
    folder.mkdir()
    gold = b"".join(
        msgspec.json.encode(question_to_record(question, make_exam(question.exam_id))) + b"\n"
        for question in questions
    )
    (folder / "gold.jsonl").write_bytes(gold)
    entry = {"path": "gold.jsonl", "bytes": len(gold), "sha256": hashlib.sha256(gold).hexdigest()}
    (folder / MANIFEST).write_text(json.dumps({"format": FORMAT, "files": [entry]}), encoding="utf-8")
    sha256, exams = "0" * 64, range(len(questions) // PER_EXAM + 1)
    with unit_of_work() as db:
        db.add(DatasetRow(id=1, name="bench", created_at=NOW))
        db.flush()
        db.add(
            ImportRow(
                id=1, dataset_id=1, file_name="f", file_sha256="0", file_format="native",
                questions=len(questions), known=0, refused=0, imported_at=NOW,
            )
        )  # fmt: skip
        db.add(
            ImageRow(
                sha256=sha256, media_type="image/png", bytes=1, rows=2500, columns=2000, bits=8,
                photometric="MONOCHROME2",
            )
        )  # fmt: skip
        db.flush()
        db.execute(
            insert(ExamRow),
            [
                {"id": number + 1, "dataset_id": 1, "key": f"E{number}", "patient": f"P{number // 2}",
                 "age": f"{20 + number % 70:03}Y", "sex": "FM"[number % 2]}
                for number in exams
            ],
        )  # fmt: skip
        db.execute(
            insert(RadiographRow),
            [
                {"exam_id": number + 1, "key": view.lower(), "position": position, "file": view, "view": view,
                 "image_sha256": sha256}
                for number in exams
                for position, view in enumerate(("PA", "LATERAL")[: 1 + number % 2])
            ],
        )  # fmt: skip
        db.execute(
            insert(QuestionRow),
            [
                {
                    **question_to_columns(question), "id": number + 1, "dataset_id": 1, "key": question.id,
                    "exam_id": number // PER_EXAM + 1, "import_id": 1, "draw_hash": number,
                    "record_hash": number.to_bytes(16, "big"),
                }
                for number, question in enumerate(questions)
            ],
        )  # fmt: skip
        manifest = hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
        db.add(
            ReleaseRow(
                id=1, dataset_id=1, name="v1", rule="bench", items=len(questions), manifest_sha256=manifest,
                folder=str(folder), made_at=NOW,
            )
        )  # fmt: skip
        db.flush()
        db.execute(
            insert(ReleaseItemRow),
            [
                {"release_id": 1, "question_id": number + 1, "side": "public"}
                for number in range(len(questions))
            ],
        )


def plan(name: str) -> None:
    settings = evaluations.PlanSettings(
        name=name, dataset="bench", release="v1", split=Split.PUBLIC, conditions=(Condition.AS_GIVEN,)
    )
    with unit_of_work() as db:
        evaluations.plan_without_endpoint(
            db, by=command_line_person(), settings=settings, answered_by=AnsweredBy.FILE, model=name, now=NOW
        )


def write_answers(questions: list[Question], number: int, folder: Path) -> Path:
    rng, path = random.Random(number), folder / f"{number}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for question in questions:
            is_right = rng.random() < 0.3 + 0.02 * number
            letter = "ABCD"[question.answer[0] if is_right else rng.randrange(4)]  # type: ignore[index]  # the format is single
            text = f"<answer>{letter}</answer> The heart is of normal size and both angles are sharp."
            box = [90 + rng.randrange(60), 100, 300, 310]
            boxes = [{"radiograph": "pa", "label": "lung", "box": box}]
            file.write(json.dumps({"question_id": question.id, "raw": text, "boxes": boxes}) + "\n")
    return path


def import_files(files: list[Path]) -> None:
    for number, path in enumerate(files):
        import_file(number, path)


def import_file(number: int, path: Path) -> None:
    with unit_of_work() as db:
        outcome = evaluations.import_answers(
            db, by=command_line_person(), name=f"model {number:02}", condition=Condition.AS_GIVEN, path=path,
            now=NOW,
        )  # fmt: skip
    if outcome.refused:
        raise SystemExit(f"refused: {outcome.refusals[0]}")


def compute() -> None:
    evaluations.compute_scores(by=command_line_person(), release_id=1, split="public")


def find_evaluated_split() -> evaluations.EvaluatedSplit:
    with read_only_session() as db:
        return evaluations.find_evaluated_split(
            db, by=command_line_person(), release_id=1, split=Split.PUBLIC.value
        )


def add_models(count: int) -> None:
    """Give each of the other models one answer and a score file with exchanged answers."""
    workspace, evaluated_split = current_workspace(), find_evaluated_split()
    score_contents = [
        score_files.find_scores(workspace, digest=evaluation.digest)
        for evaluation in evaluated_split.evaluations
    ]
    first_content = score_contents[0]
    if first_content is None:
        raise SystemExit("the first model has no scores")
    for number in range(len(score_contents), count):
        path = workspace.home / "one.jsonl"
        path.write_text('{"question_id": "Q0", "raw": "A"}\n', encoding="utf-8")
        import_file(number, path)
    rng = np.random.default_rng(1)
    for evaluation in find_evaluated_split().waiting:
        original = decode_scores(first_content)
        order = np.where(rng.random(len(original.state)) < 0.5, rng.permutation(len(original.state)), -1)
        order = np.where(order < 0, np.arange(len(order)), order)
        mixed = replace(original, correct=original.correct[order], answer=original.answer[order])
        score_files.save_scores(workspace, digest=evaluation.digest, content=encode_scores(mixed))


def measure_page() -> None:
    by = command_line_person()

    def view_page() -> None:
        with read_only_session() as db:
            [evaluated_split] = evaluations.list_evaluated_splits(db, by=by)
        scored = evaluations.load_split_scores(by=by, evaluated_split=evaluated_split)
        all_rows = find_rows(scored.questions, {})
        summarise_models(scored.questions, scored.models, all_rows)
        compute_task_accuracies(scored.questions, scored.models, all_rows)

    measure("first look, all measures of all models", view_page)
    measure("second look", view_page)
    scored = evaluations.load_split_scores(by=by, evaluated_split=find_evaluated_split())
    table, models = scored.questions, scored.models
    print(f"{len(models)} models, {len(table.numbers):,} questions")
    for name in DIMENSIONS:
        chosen_values = {name: table.dimensions[name].values[:1]}

        def slice_scores(chosen_values: dict[str, tuple[str, ...]] = chosen_values) -> None:
            rows = find_rows(table, chosen_values)
            summarise_models(table, models, rows)
            compute_task_accuracies(table, models, rows)

        measure(f"slice {chosen_values}", slice_scores)
    rows = find_rows(table, {})
    for name in ("task", "category"):

        def group(name: str = name) -> None:
            list_group_rows(table, models, rows, dimension=name, measure="A-score")

        measure(f"A-score by {name}", group)
    measure("all tables of the papers", lambda: build_paper_tables(table, models, rows, with_published=True))
    measure("differences from one model", lambda: compare_models(table, models, rows, with_model="model 00"))


if __name__ == "__main__":
    main()
