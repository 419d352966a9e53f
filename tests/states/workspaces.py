"""A workspace in each state that real use goes through, each created from the previous one by services.

A dataset has twelve questions on six exams. Two reviewers judge a batch of eight, a third person adjudicates
their disputes, and two readers read a study of four cases.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import Session

from accounts import service as accounts
from domain.adjudications import Adjudication, AdjudicationRules
from domain.batches import BatchSettings, SamplingPlan
from domain.corrections import Correction
from domain.hidden import HiddenPlan
from domain.people import Person, Role
from domain.protocols import Protocol
from domain.questions import option_letter
from domain.ratings import RATING_IDS, Ratings
from domain.studies import CaseSource, SourceKind, StudyDesign
from domain.verdicts import Decision, ErrorKind, Opinion, Verdict
from domain.vocabulary import Difficulty
from intake.service import import_questions
from jobs import service as jobs
from privacy import service as privacy
from quality.service import finish_run, run_checks
from reader_study import service as studies
from reader_study.sheet import ReadingSheet
from release.service import default_release_folder
from review import service as review
from sampling.service import draw_batch, list_batches
from storage.engine import make_engine
from storage.reader_study.cases import list_cases
from storage.unit_of_work import unit_of_work
from storage.workspace import Workspace
from tests.golden.question_files import write_image
from tests.storage.import_worlds import make_record, to_json_lines
from tests.storage.release_helpers import create_release
from ui.patients.search_jobs import SEARCH_TEXTS, SearchRequest

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
COMMAND_LINE = accounts.command_line_person()
#: Everybody exists from the first state on, without a password.
PEOPLE = {
    "ada": Role.ADMIN,
    "cora": Role.COORDINATOR,
    "ruth": Role.REVIEWER,
    "remo": Role.REVIEWER,
    "rita": Role.REVIEWER,
    "rea": Role.READER,
    "rob": Role.READER,
    "sue": Role.SUBMITTER,
}
TASKS = ("presence", "location", "negation", "differential")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The dataset that goes through the states, with the names of its batch and study."""

    workspace: Workspace
    dataset: str
    batch: str
    study: str

    def add_people(self, db: Session) -> None:
        for name, role in PEOPLE.items():
            accounts.add_person(
                db, by=COMMAND_LINE, name=name, display_name=None, roles=[role], password=None, now=NOW
            )

    def import_questions(self, db: Session) -> None:
        incoming = self.workspace.home / f"incoming-{self.dataset}"
        for exam in range(6):
            write_image(incoming / f"{exam}.png", 40 + exam, 30, "L")
        file = incoming / "questions.jsonl"
        file.write_bytes(to_json_lines(*(self._record(number) for number in range(12))))
        import_questions(
            db, by=COMMAND_LINE, path=file, file_format="native", dataset=self.dataset, images=incoming,
            workspace=self.workspace, now=NOW,
        )  # fmt: skip

    def _record(self, number: int) -> dict[str, object]:
        exam = number // 2
        radiograph = {"id": "pa", "file": f"{exam}.png", "view": "PA"}
        return make_record(
            number,
            id=f"{self.dataset}-{number}",
            exam={"id": f"{self.dataset}-exam-{exam}", "radiographs": [radiograph]},
            stem=f"Which finding is present on radiograph {number}?",
            explanation=... if number == 0 else "An opacity with air bronchograms is seen on the left.",
            task=TASKS[number % 4],
            difficulty=list(Difficulty)[number % 3].value,
            boxes=[{"radiograph": "pa", "label": "Opacity", "box": [5, 5, 20, 20]}],
        )

    def check(self, db: Session) -> None:
        check_run = run_checks(
            by=COMMAND_LINE, dataset=self.dataset, clock=lambda: NOW,
            read_session=lambda: nullcontext(db), transaction=lambda: nullcontext(db),
        )  # fmt: skip
        finish_run(db, by=COMMAND_LINE, run=check_run, now=NOW)
        hits = privacy.find_hits(db, by=COMMAND_LINE, dataset=self.dataset, workspace=self.workspace)
        privacy.record_hits(db, by=COMMAND_LINE, result=hits, now=NOW)

    def draw(self, db: Session) -> None:
        draw_batch(
            db, by=COMMAND_LINE, dataset=self.dataset, plan=SamplingPlan(seed=7, per_1000=None, n=8),
            batch_name=self.batch, settings=BatchSettings(show_report=True), now=NOW,
        )  # fmt: skip

    def assign(self, db: Session) -> None:
        review.assign(db, by=COMMAND_LINE, batch=self.batch, to=["ruth", "remo"], overlap=2, now=NOW)
        rules = AdjudicationRules(adjudicators=("rita",))
        review.change_adjudication_rules(
            db, by=COMMAND_LINE, batch=self.batch, rules=rules, revision=0, now=NOW
        )

    def hide(self, db: Session) -> None:
        plan = HiddenPlan(repeat_share=0.25, min_distance=2, planted_count=1, seed=5)
        review.hide_questions(
            db, by=COMMAND_LINE, batch=self.batch, plan=plan, mask_secret=0x2545_F491_4F6C_DD1D >> 2, now=NOW
        )

    def judge_partly(self, db: Session) -> None:
        """Ruth accepts one question and skips another."""
        self._judge(db, "ruth", most=1)
        sheet = self._sheet(db, "ruth")
        review.skip_question(
            db,
            person=load_person(db, "ruth"),
            batch_id=sheet.batch.id,
            question_row_id=sheet.question_row_id,
            reason="Interrupted.",
            now=NOW,
        )

    def judge_all(self, db: Session) -> None:
        """Ruth accepts what is left; Remo rejects two questions, corrects two and accepts the others."""
        self._judge(db, "ruth")
        correction = Correction(stem="Which one of these findings is there?", answer=(0,))
        wrong_key = frozenset({ErrorKind.WRONG_KEY})
        self._judge(db, "remo", most=2, decision=Decision.REJECT, errors=wrong_key)
        self._judge(db, "remo", most=2, decision=Decision.REVISE, errors=wrong_key, correction=correction)
        self._judge(db, "remo")

    def settle(self, db: Session) -> None:
        """Rita adjudicates every dispute: the question stays unchanged."""
        rita, batch = load_person(db, "rita"), self._batch_id(db)
        for dispute in review.list_disputes(db, person=rita, batch_id=batch):
            review.adjudicate(
                db,
                person=rita,
                adjudication=Adjudication(
                    batch_id=batch, question_row_id=dispute.question_row_id, revision=1, person_id=rita.id,
                    decision=Decision.ACCEPT, reason="It is plain to see.", given_at=NOW + timedelta(hours=3),
                ),
            )  # fmt: skip

    def release(self, db: Session) -> None:
        create_release(
            db, by=COMMAND_LINE, dataset=self.dataset, name="v1", workspace=self.workspace, now=NOW,
            out=default_release_folder(self.workspace, dataset=self.dataset, name="v1"),
        )  # fmt: skip

    def make_study(self, db: Session) -> None:
        plan = SamplingPlan(seed=7, per_1000=None, n=4)
        studies.create_study(
            db,
            by=COMMAND_LINE,
            name=self.study,
            source=CaseSource(kind=SourceKind.DATASET, dataset=self.dataset),
            design=StudyDesign(plan=plan, training=1, repeats=1, repeat_gap=1),
            protocol=Protocol(show_own_result=True),
            now=NOW,
        )

    def assign_readers(self, db: Session) -> None:
        studies.assign_readers(db, by=COMMAND_LINE, study=self.study, to=["rea", "rob"], now=NOW)

    def read_partly(self, db: Session) -> None:
        """Rea answers the training case and one scored case."""
        self._read(db, "rea", most=2)

    def read_all(self, db: Session) -> None:
        for name in ("rea", "rob"):
            self._read(db, name)

    def report(self, db: Session) -> None:
        """Import a model's predictions, compute and store the report, and cancel a job."""
        study = studies.load_study_summary(db, by=COMMAND_LINE, study=self.study).study
        file = self.workspace.home / f"{self.study}.jsonl"
        cases = [case for case in list_cases(db, study_id=study.id) if case.scored]
        predictions = (
            {"question_id": case.blind_case.question_id, "answer": option_letter(2)} for case in cases
        )
        file.write_text(
            "".join(f"{json.dumps(prediction)}\n" for prediction in predictions), encoding="utf-8"
        )
        studies.import_predictions(db, by=COMMAND_LINE, path=file, model="model", study=self.study, now=NOW)
        studies.load_or_compute_report(db, by=COMMAND_LINE, study=self.study, workspace=self.workspace)
        request = SearchRequest(dataset=self.dataset)
        job, _ = jobs.start_job(
            db, by=COMMAND_LINE, kind=SEARCH_TEXTS, parameters=request, subject=self.dataset, now=NOW
        )
        jobs.cancel_job(db, by=COMMAND_LINE, number=job.number, now=NOW)

    def _batch_id(self, db: Session) -> int:
        return next(batch.id for batch, _ in list_batches(db, by=COMMAND_LINE) if batch.name == self.batch)

    def _sheet(self, db: Session, name: str):
        return review.load_sheet(db, person=load_person(db, name), batch_id=self._batch_id(db), now=NOW)

    def _judge(
        self,
        db: Session,
        name: str,
        *,
        most: int = 99,
        decision: Decision = Decision.ACCEPT,
        **opinion_fields: Any,
    ) -> None:
        """Save that verdict on the person's next questions."""
        for number in range(most):
            sheet = self._sheet(db, name)
            if sheet is None:
                return
            opinion = Opinion(
                ratings=Ratings(**dict.fromkeys(RATING_IDS, 4)), domain_specific=True, cognitive_depth=True,
                difficulty=Difficulty.MEDIUM, **opinion_fields,
            )  # fmt: skip
            verdict = Verdict(
                batch_id=sheet.batch.id,
                question_row_id=sheet.question_row_id,
                person_id=load_person(db, name).id,
                revision=1,
                decision=decision,
                opinion=opinion,
                seconds=40.0,
                seconds_looking=30.0,
                seconds_away=5.0,
                given_at=NOW + timedelta(minutes=number),
            )
            review.save_verdict(db, verdict=verdict, person=load_person(db, name))

    def _read(self, db: Session, name: str, *, most: int = 99) -> None:
        """Answer the reader's next cases, each with the first option shown."""
        reader = load_person(db, name)
        study = studies.load_study_summary(db, by=COMMAND_LINE, study=self.study).study
        for number in range(most):
            now = NOW + timedelta(minutes=number)
            sheet = studies.open_case(db, person=reader, study_id=study.id, now=now)
            if not isinstance(sheet, ReadingSheet):
                return
            submitted_answer = studies.SubmittedAnswer(
                answer=(0,), confidence=4, seconds=20.0, seconds_looking=12.0
            )
            studies.submit_reading(
                db,
                person=reader,
                study_id=study.id,
                position=sheet.slot.position,
                revision=1,
                submitted=submitted_answer,
                now=now,
            )


def load_person(db: Session, name: str) -> Person:
    return accounts.load_person_by_name(db, name=name)


#: The states in the order in which they are reached, each with the step that leads to it.
STEPS: dict[str, Callable[[Subject, Session], None]] = {
    "nothing": Subject.add_people,
    "imported": Subject.import_questions,
    "checked": Subject.check,
    "drawn": Subject.draw,
    "assigned": Subject.assign,
    "hidden questions": Subject.hide,
    "partly judged": Subject.judge_partly,
    "disputed": Subject.judge_all,
    "settled": Subject.settle,
    "released": Subject.release,
    "study made": Subject.make_study,
    "readers assigned": Subject.assign_readers,
    "partly read": Subject.read_partly,
    "read": Subject.read_all,
    "reported": Subject.report,
}
STATES = tuple(STEPS)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The state of the workspace's first dataset and of the second one; None without a second one."""

    name: str
    second_dataset_state: str | None = None

    def __str__(self) -> str:
        second_state = self.second_dataset_state
        return self.name if second_state is None else f"{self.name} beside {second_state}"


#: States that `make test` opens: before import, after it, in review, in a study. The full tests open all.
MAIN_STATES = {"nothing", "imported", "partly judged", "reported"}


def to_parameters(states: Iterable[State]) -> list[Any]:
    """Return the states as parameters of a test; those that are not main states run in the full tests."""
    return [
        pytest.param(
            state,
            id=str(state),
            marks=[] if str(state) in MAIN_STATES else pytest.mark.full,
        )
        for state in states
    ]


class Workspaces:
    """Workspaces by state, each created once, from a copy of the previous one and one step."""

    def __init__(self, folder: Path, template: Path) -> None:
        """Create the workspaces in that folder; ``template`` is a database with all tables."""
        self._folder, self._template = folder, template
        self._homes: dict[State, Path] = {}

    def folder_of(self, state: State) -> Path:
        """The folder of the workspace in that state; tests copy it and never write to it."""
        if state not in self._homes:
            self._homes[state] = self._make(state)
        return self._homes[state]

    def _make(self, state: State) -> Path:
        home = self._folder / str(state).replace(" ", "-")
        state_index = STATES.index(state.name)
        subject = make_subject(home)
        if state_index > 0:
            previous = replace(state, name=STATES[state_index - 1])
        elif state.second_dataset_state not in (None, STATES[0]):
            # The second dataset goes through its states first, with the people of the first state.
            index = STATES.index(state.second_dataset_state)
            previous = replace(state, second_dataset_state=STATES[index - 1])
            subject = make_subject(home, second=True)
        else:
            previous = None
        if previous is None:
            home.mkdir()
            shutil.copyfile(self._template, home / "overread.sqlite")
        else:
            shutil.copytree(self.folder_of(previous), home)
        step = STEPS[state.name if subject.dataset == FIRST_DATASET else str(state.second_dataset_state)]
        engine = make_engine(subject.workspace.database_url)
        with unit_of_work(engine) as db:
            step(subject, db)
        engine.dispose()  # closing the last connection merges the write-ahead log into the file
        return home


FIRST_DATASET = "chest"


def make_subject(home: Path, *, second: bool = False) -> Subject:
    """The first dataset of the workspace in that folder, or the second one."""
    workspace = Workspace(home=home, database_url=f"sqlite:///{home / 'overread.sqlite'}")
    if second:
        return Subject(workspace=workspace, dataset="beside", batch="second", study="other")
    return Subject(workspace=workspace, dataset=FIRST_DATASET, batch="first", study="readers")
