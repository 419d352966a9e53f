"""Eight questions of all four formats on DICOM and PNG exams: imported, drawn, judged and released."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sqlalchemy import Engine

from accounts.service import add_person, command_line_person
from domain.batches import SamplingPlan
from domain.corrections import Correction
from domain.people import Role
from domain.questions import Question
from domain.ratings import RATING_IDS, Ratings
from domain.verdicts import Decision, ErrorKind, Opinion, Verdict
from domain.vocabulary import Difficulty
from intake.service import import_questions
from release.service import WrittenRelease, write_release
from review.service import assign, save_verdict
from sampling.service import draw_batch
from storage.engine import make_engine
from storage.intake.questions import load_questions
from storage.sampling.batches import load_batch
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.golden.question_files import write_image
from tests.storage.import_worlds import NOW
from tests.unit.makers.dicom_files import dicom, ramp

_UIDS: dict[str, Any] = {
    "StudyInstanceUID": "1.2.826.0.1.3680043.8.498.1",
    "SeriesInstanceUID": "1.2.826.0.1.3680043.8.498.2",
}
_EXAMS: list[dict[str, Any]] = [
    {
        "id": "s1",
        "patient": "p1",
        "indication": "Cough.",
        "age": "058Y",
        "sex": "F",
        "radiographs": [{"id": "pa", "file": "p1/s1/pa.dcm", "view": "PA"}],
    },
    {
        "id": "s2",
        "patient": "p2",
        "radiographs": [
            {"id": "front", "file": "p2/s2/front.png", "view": "AP"},
            {"id": "side", "file": "p2/s2/side.png", "view": "LATERAL"},
        ],
    },
]
BOX = [101.25, 203.5, 305.0, 399.125]


def make_question_records() -> list[dict[str, Any]]:
    """Native records; the sixth cannot be exported as a conversation, the seventh only in our own formats."""
    options = ["Nodule, 8 mm", "Effusion", "Pneumothorax: small", "None of these"]
    box = {"radiograph": "pa", "label": "Nodule, left", "box": BOX}
    first_exam, second_exam = _EXAMS
    common_fields = {
        "explanation": "It's seen “there”: 5 > 3 & so on.",
        "category": "Lungs",
        "difficulty": "easy",
    }
    return [
        {
            "id": "q1",
            "exam": first_exam,
            "format": "single",
            "stem": "Which?",
            "options": options,
            "answer": [1],
            "task": "presence",
            "boxes": [box],
            "content_type": "abnormality",
            **common_fields,
        },
        {
            "id": "q2",
            "exam": first_exam,
            "format": "multiple",
            "stem": "Which two?",
            "options": options,
            "answer": [0, 2],
            "task": "location",
            **common_fields,
        },
        {
            "id": "q3",
            "exam": first_exam,
            "format": "closed",
            "stem": "Is there air?",
            "answer": "no",
            "task": "negation",
            "boxes": [box, {**box, "label": "Heart", "box": [10, 20, 30.5, 40]}],
            **common_fields,
        },
        {
            "id": "q4",
            "exam": second_exam,
            "format": "open",
            "stem": "What is seen?",
            "answer": "An opacity, größer.",
            "task": "differential",
            **common_fields,
        },
        {
            "id": "q5",
            "exam": second_exam,
            "format": "single",
            "stem": "Which side?",
            "options": ["Left", "Right"],
            "answer": [0],
            "task": "geometric",
            "boxes": [{"radiograph": "side", "label": "Spine", "box": BOX}],
            "difficulty": "hard",
            "source": {"generator": "g", "version": "1", "prompt_version": "p3"},
        },
        {
            "id": "q6",
            "exam": second_exam,
            "format": "single",
            "stem": "Which sign?",
            "options": ["a, B: b", "c"],
            "answer": [1],
            **common_fields,
        },
        {
            "id": "q7",
            "exam": second_exam,
            "format": "single",
            "stem": "Which of both?",
            "options": options,
            "answer": [0],
            "also_right": [[2]],
            "boxes": [
                {"radiograph": "front", "label": "One", "box": BOX},
                {"radiograph": "side", "label": "Two", "box": BOX},
            ],
            **common_fields,
        },
        {
            "id": "q8",
            "exam": first_exam,
            "format": "single",
            "stem": "To be rejected?",
            "options": options,
            "answer": [3],
            **common_fields,
        },
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatsWorld:
    """The dataset "forms", with all questions in one batch; ``gold`` maps ids to the released questions."""

    engine: Engine
    workspace: Workspace
    images: Path
    gold: dict[str, Question]

    def write(self, out: Path, **choices: Any) -> WrittenRelease:
        """Write a release of the dataset to that folder."""
        with read_only_session(self.engine) as db:
            return write_release(
                db, by=command_line_person(), dataset="forms", name=choices.pop("name", "v1"), out=out,
                workspace=self.workspace, **choices,
            )  # fmt: skip


def make_formats_world(engine: Engine, folder: Path) -> FormatsWorld:
    """Create the world of the eight questions; the second is reworded, the eighth is rejected."""
    images = folder / "images"
    (images / "p1" / "s1").mkdir(parents=True)
    (images / "p1" / "s1" / "pa.dcm").write_bytes(dicom(ramp(600, 500), **_UIDS))
    write_image(images / "p2" / "s2" / "front.png", 480, 640, "L")
    write_image(images / "p2" / "s2" / "side.png", 500, 650, "L")
    return make_released_world(
        engine, folder, make_question_records(), reworded={"q2": "Which two are right?"}, rejected={"q8"}
    )


def make_released_world(
    engine: Engine,
    folder: Path,
    records: list[dict[str, Any]],
    *,
    reworded: Mapping[str, str] = MappingProxyType({}),
    rejected: Set[str] = frozenset(),
    with_images: bool = True,
) -> FormatsWorld:
    """Import native records through the services, with the images in ``folder / "images"``; judge them all.

    ``reworded`` has corrected stems by id. Other questions are accepted, except the ``rejected`` ones.
    """
    by, images = command_line_person(), folder / "images"
    file = folder / "forms.jsonl"
    file.write_text("\n".join(json.dumps(record) for record in records) + "\n", encoding="utf-8")
    workspace = Workspace(home=folder / "workspace", database_url=str(engine.url))
    numbers = range(1, len(records) + 1)
    with unit_of_work(engine) as db:
        import_questions(
            db, by=by, path=file, dataset="forms", images=images if with_images else None,
            workspace=workspace, now=NOW,
        )  # fmt: skip
        ruth = add_person(
            db, by=by, name="ruth", display_name="Ruth", roles={Role.REVIEWER}, password=None, now=NOW
        )
        draw_result = draw_batch(
            db, by=by, dataset="forms", plan=SamplingPlan(seed=7, per_1000=1000), batch_name="all", now=NOW
        )
        assign(db, by=by, batch="all", to=["ruth"], now=NOW)
        batch = load_batch(db, name="all")
        assert draw_result.added == len(records)
        for number, question in load_questions(db, question_ids=numbers):
            is_rejected, stem = question.id in rejected, reworded.get(question.id)
            verdict = Verdict(
                batch_id=batch.id, question_row_id=number, person_id=ruth.id, revision=1,
                decision=Decision.REJECT if is_rejected else Decision.REVISE if stem else Decision.ACCEPT,
                opinion=Opinion(
                    ratings=Ratings(**dict.fromkeys(RATING_IDS, 4)), domain_specific=True,
                    cognitive_depth=True, difficulty=question.difficulty or Difficulty.MEDIUM,
                    errors=frozenset({ErrorKind.WORDING}) if is_rejected or stem else frozenset(),
                    correction=Correction(stem=stem) if stem else Correction(),
                ),
                seconds=1.0, seconds_looking=1.0, seconds_away=0.0, given_at=NOW,
            )  # fmt: skip
            save_verdict(db, verdict=verdict, person=ruth)
    with read_only_session(engine) as db:
        imported = {question.id: question for _, question in load_questions(db, question_ids=numbers)}
    gold = {
        key: replace(question, stem=reworded.get(key, question.stem))
        for key, question in imported.items()
        if key not in rejected
    }
    return FormatsWorld(engine=engine, workspace=workspace, images=images, gold=gold)


def import_release_files(
    template: Path, folder: Path, *files: Path, images: Path | None, file_format: str = "auto"
) -> dict[str, Question]:
    """Import files of a release into an empty database, a copy of ``template`` in that folder."""
    shutil.copy(template, folder / "again.sqlite")
    engine = make_engine(f"sqlite:///{folder}/again.sqlite")
    workspace = Workspace(home=folder / "again", database_url=str(engine.url))
    for number, path in enumerate(files):
        with unit_of_work(engine) as db:
            import_questions(
                db, by=command_line_person(), path=path, file_format=file_format, dataset="again",
                images=images, workspace=workspace, now=NOW.replace(minute=number),
            )  # fmt: skip
    with read_only_session(engine) as db:
        questions = {question.id: question for _, question in load_questions(db, question_ids=range(1, 999))}
    engine.dispose()
    return questions
