"""Reader studies for tests: the questions of the small world, three readers, and a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, update

from domain.batches import SamplingPlan
from domain.people import Person, Role
from domain.protocols import Protocol
from domain.readings import Reading
from domain.studies import CaseSource, ReaderStudy, SourceKind, StudyDesign
from reader_study import service as studies
from reader_study.service import SubmittedAnswer
from reader_study.sheet import ReadingSheet
from storage.rows.datasets import QuestionRow
from storage.rows.people import PersonRoleRow, PersonRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.worlds import NOW, World, make_world

SOURCE = CaseSource(kind=SourceKind.DATASET, dataset="demo")
READERS = ("rea", "rob", "ria")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyWorld:
    """The world, its study, and the people by sign-in name."""

    world: World
    engine: Engine
    people: dict[str, Person]
    study: ReaderStudy

    @property
    def cora(self) -> Person:
        return self.people["cora"]


def make_study_world(
    engine: Engine,
    *,
    cases: int = 6,
    design: StudyDesign | None = None,
    protocol: Protocol | None = None,
    readers: Sequence[str] = ("rea", "rob"),
    source: CaseSource = SOURCE,
    questions: int = 24,
    per_exam: int = 2,
    open_questions: int = 0,
    closed: int = 0,
) -> StudyWorld:
    """Create the study "first" on the world's dataset; rea, rob and ria may read, ``readers`` take part.

    The first ``closed`` questions are yes/no questions; the key of those with an even id is yes.
    """
    world = make_world(engine, questions=questions, per_exam=per_exam, open_questions=open_questions)
    with unit_of_work(engine) as db:
        for number in range(1, closed + 1):
            answer = '"no"' if number % 2 else '"yes"'
            changes = {"format": "closed", "options": "[]", "answer": answer}
            db.execute(update(QuestionRow).where(QuestionRow.id == number).values(**changes))
    people = dict(world.people)
    with unit_of_work(engine) as db:
        for name in READERS[1:]:
            row = PersonRow(name=name, display_name=name.title(), created_at=NOW)
            db.add(row)
            db.flush()
            db.add(PersonRoleRow(person_id=row.id, role=Role.READER))
            people[name] = Person(
                id=row.id, name=name, display_name=name.title(), roles=frozenset({Role.READER})
            )
    with unit_of_work(engine) as db:
        study = studies.create_study(
            db,
            by=people["cora"],
            name="first",
            source=source,
            design=design or make_design(cases),
            protocol=protocol or Protocol(),
            now=NOW,
        )
        if readers:
            studies.assign_readers(db, by=people["cora"], study="first", to=readers, now=NOW)
    return StudyWorld(world=world, engine=engine, people=people, study=study)


def make_design(cases: int = 6, **changes: Any) -> StudyDesign:
    """A fully crossed design of that many cases."""
    return StudyDesign(plan=SamplingPlan(seed=7, per_1000=None, n=cases), **changes)


def open_sheet(
    study_world: StudyWorld, name: str = "rea", *, position: int | None = None, now: datetime = NOW
) -> Any:
    """What the reader sees: a sheet, or the reason why there is none."""
    with read_only_session(study_world.engine) as db:
        return studies.open_case(
            db, person=study_world.people[name], study_id=study_world.study.id, position=position, now=now
        )


def answer_case(
    study_world: StudyWorld,
    name: str = "rea",
    *,
    option: int = 1,
    position: int | None = None,
    revision: int = 1,
    now: datetime = NOW,
    **fields: Any,
) -> Reading:
    """Answer the case at ``position``, by default the current one, with the option of that index."""
    if position is None:
        position = open_sheet(study_world, name, now=now).slot.position
    defaults: dict[str, Any] = {
        "answer": (option,),
        "confidence": 4,
        "seconds": 20.0,
        "seconds_looking": 12.0,
    }
    submitted = SubmittedAnswer(**defaults | fields)
    with unit_of_work(study_world.engine) as db:
        return studies.submit_reading(
            db,
            person=study_world.people[name],
            study_id=study_world.study.id,
            position=position,
            revision=revision,
            submitted=submitted,
            now=now,
        )


def read_all(study_world: StudyWorld, name: str = "rea", *, option: int = 1) -> int:
    """Answer every remaining case; return how many there were."""
    count = 0
    while isinstance(open_sheet(study_world, name), ReadingSheet):
        answer_case(study_world, name, option=option, now=NOW + timedelta(minutes=count))
        count += 1
    return count
