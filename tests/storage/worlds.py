"""Test data, which the tests call a world: a dataset of exams and questions, people, and drawn batches.

Rows are inserted directly, so that the test of one package needs no other package. Times are fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import Engine
from sqlmodel import Session

from domain.batches import Batch, BatchSettings, BatchState, SamplingPlan
from domain.people import Person, Role
from domain.vocabulary import Difficulty, Task
from storage.rows.batches import AssignmentRow, BatchQuestionRow, DrawRow, StratumRow
from storage.rows.datasets import DatasetRow, ExamRow, ImageRow, ImportRow, QuestionRow, RadiographRow
from storage.rows.people import PersonRoleRow, PersonRow
from storage.sampling.batches import add_batch, load_batch, save_state
from storage.unit_of_work import unit_of_work

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
#: Planted in every column that reveals the answer; a test finds a leak by searching for it.
SECRETS = {
    "explanation": "SECRET-explanation: the opacity is basal.",
    "report": "SECRET-report: right pleural effusion.",
    "category": "SECRET-category",
    "label": "SECRET-label",
}
ROWS, COLUMNS = 3000, 2500
TIERS = (Difficulty.EASY, Difficulty.MEDIUM, Difficulty.HARD)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The inserted data: ``people`` by sign-in name, ``questions`` as numbers; neighbours share an exam."""

    engine: Engine
    dataset: str
    dataset_id: int
    people: dict[str, Person]
    exams: tuple[int, ...]
    questions: tuple[int, ...]
    batch: Batch
    extra: dict[str, Batch] = field(default_factory=dict)


def make_world(
    engine: Engine,
    *,
    questions: int = 12,
    per_exam: int = 2,
    settings: BatchSettings | None = None,
    assigned_to: Sequence[str] = (),
    open_questions: int = 0,
) -> World:
    """A dataset "demo" with ``questions`` questions, all of them in the batch "first".

    People: cora (coordinator), ruth and remo (reviewers), rolf (reviewer, disabled), rea (reader),
    ada (admin).
    ``assigned_to``: each of these people has an open assignment of every question of the batch.
    The question with index i (from 0) is on exam i // per_exam, of tier i % 3 (easy, medium, hard), of task
    i % 5; all are single-choice with three options and key B, except the last ``open_questions``, which are
    open with the key "Effusion". Each exam has a PA and a lateral radiograph of 3000 x 2500.
    """
    with unit_of_work(engine) as db:
        people = _insert_people(db)
        dataset_id = _insert_dataset(db)
        exams = _insert_exams(db, dataset_id, count=-(-questions // per_exam))
        numbers = _insert_questions(
            db, dataset_id, exams, count=questions, per_exam=per_exam, open_count=open_questions
        )
        batch = make_batch(db, dataset_id=dataset_id, name="first", questions=numbers, settings=settings)
        for name in assigned_to:
            assign_all(db, batch=batch, questions=numbers, person=people[name])
    return World(
        engine=engine,
        dataset="demo",
        dataset_id=dataset_id,
        people=people,
        exams=exams,
        questions=numbers,
        batch=batch,
    )


def make_batch(
    db: Session,
    *,
    dataset_id: int,
    name: str,
    questions: Sequence[int],
    settings: BatchSettings | None = None,
    probability: float = 0.1,
) -> Batch:
    """Make a batch of the questions in this order, as if drawn with ``probability`` from every tier."""
    batch = add_batch(
        db,
        name=name,
        dataset_id=dataset_id,
        plan=SamplingPlan(seed=7, per_1000=max(1, round(1000 * probability))),
        settings=settings or BatchSettings(),
        by=None,
        now=NOW,
    )
    draw = DrawRow(
        batch_id=batch.id,
        number=1,
        frame_after=0,
        frame_through=max(questions, default=0),
        frame_size=round(len(questions) / probability),
        drawn_at=NOW,
    )
    db.add(draw)
    db.flush()
    for index, tier in enumerate(TIERS):
        drawn_count = len(range(index, len(questions), 3))
        db.add(
            StratumRow(draw_id=draw.id, tier=tier, size=round(drawn_count / probability), drawn=drawn_count)
        )
    db.add_all(
        BatchQuestionRow(
            batch_id=batch.id,
            question_id=number,
            draw_id=draw.id,
            stratum=TIERS[index % 3],
            inclusion_probability=probability,
            position=index + 1,
        )
        for index, number in enumerate(questions)
    )
    db.flush()
    return batch


def assign_all(db: Session, *, batch: Batch, questions: Sequence[int], person: Person) -> None:
    """Assign every question to that person, open, in that order."""
    db.add_all(
        AssignmentRow(
            batch_id=batch.id,
            question_id=number,
            person_id=person.id,
            position=index + 1,
            state="open",
            assigned_at=NOW,
            changed_at=NOW,
        )
        for index, number in enumerate(questions)
    )
    db.flush()


def close_batch(engine: Engine, batch: Batch) -> Batch:
    """Close the batch, and return it in its new state."""
    with unit_of_work(engine) as db:
        save_state(db, batch_id=batch.id, state=BatchState.CLOSED, by=None, now=NOW)
        return load_batch(db, batch_id=batch.id)


def _insert_people(db: Session) -> dict[str, Person]:
    role_by_name = {
        "cora": Role.COORDINATOR,
        "ruth": Role.REVIEWER,
        "remo": Role.REVIEWER,
        "rolf": Role.REVIEWER,
        "rea": Role.READER,
        "ada": Role.ADMIN,
    }
    people = {}
    for name, role in role_by_name.items():
        disabled_at = NOW if name == "rolf" else None
        row = PersonRow(name=name, display_name=name.title(), created_at=NOW, disabled_at=disabled_at)
        db.add(row)
        db.flush()
        db.add(PersonRoleRow(person_id=row.id, role=role))
        people[name] = Person(
            id=row.id, name=name, display_name=name.title(), roles=frozenset({role}), disabled_at=disabled_at
        )
    db.flush()
    return people


def _insert_dataset(db: Session) -> int:
    row = DatasetRow(name="demo", created_at=NOW)
    db.add(row)
    db.flush()
    db.add(
        ImportRow(
            dataset_id=row.id,
            file_name="demo.jsonl",
            file_sha256="0" * 64,
            file_format="native",
            questions=0,
            known=0,
            refused=0,
            imported_at=NOW,
        )
    )
    db.flush()
    return row.id


def _insert_exams(db: Session, dataset_id: int, *, count: int) -> tuple[int, ...]:
    for number in range(1, count + 1):
        db.add(
            ExamRow(
                id=number,
                dataset_id=dataset_id,
                key=f"E{number}",
                patient=f"P{number}",
                indication="Cough for two weeks.",
                age="061Y",
                sex="F",
                report=SECRETS["report"],
            )
        )
        for position, view in enumerate(("PA", "LATERAL")):
            sha256 = f"{number:062d}{position:02d}"
            db.add(
                ImageRow(
                    sha256=sha256,
                    media_type="application/dicom",
                    bytes=15_000_000,
                    rows=ROWS,
                    columns=COLUMNS,
                    bits=12,
                    photometric="MONOCHROME2",
                )
            )
            db.flush()
            db.add(
                RadiographRow(
                    exam_id=number,
                    key=view.lower(),
                    position=position,
                    file=f"E{number}/{view}.dcm",
                    view=view,
                    image_sha256=sha256,
                )
            )
    db.flush()
    return tuple(range(1, count + 1))


def _insert_questions(
    db: Session, dataset_id: int, exams: Sequence[int], *, count: int, per_exam: int, open_count: int
) -> tuple[int, ...]:
    tasks = list(Task)
    db.add_all(
        QuestionRow(
            id=number,
            dataset_id=dataset_id,
            key=f"Q{number}",
            exam_id=exams[(number - 1) // per_exam],
            import_id=1,
            format="open" if number > count - open_count else "single",
            stem=f"Which finding is on radiograph {number}?",
            options="[]" if number > count - open_count else '["Nodule","Effusion","Pneumothorax"]',
            answer='"Effusion"' if number > count - open_count else "[1]",
            explanation=SECRETS["explanation"],
            boxes=f'[{{"radiograph":"pa","label":"{SECRETS["label"]}","box":[100,200,300,400]}}]',
            task=tasks[(number - 1) % 5],
            category=SECRETS["category"],
            difficulty=TIERS[(number - 1) % 3],
            draw_hash=number * 7919,
            record_hash=number.to_bytes(16, "big"),
        )
        for number in range(1, count + 1)
    )
    db.flush()
    return tuple(range(1, count + 1))
