"""Creates the history of the demo workspace: imports, batches, assignments, reviews and reader studies.

It uses the services that pages and commands use, with real files, for the people of the demo, and with dates
in the preceding days.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlmodel import Session

from accounts.service import command_line_person
from demo.people import DANA, RAVI, RENATE, ROSA, DemoPerson, add_people
from demo.planted import PlantedError, QuestionSet
from demo.simulated_models import MODELS, import_simulated_models
from demo.simulated_reviewers import SIMULATED, simulate_verdict
from demo.simulated_studies import create_studies
from domain.adjudications import AdjudicationRules
from domain.batches import BatchSettings, FormScope, Mode, SamplingPlan
from domain.hidden import DETECTING_ERRORS, HiddenPlan
from domain.people import Person
from domain.practice import PassMark
from domain.questions import Answer
from domain.verdicts import Verdict
from intake.service import import_questions
from review.service import (
    PracticePlan,
    assign,
    assign_practice,
    change_adjudication_rules,
    count_practice_candidates,
    create_practice_from_batch,
    exempt_reviewer,
    hide_questions,
    list_hidden_questions,
    load_sheet,
    record_viewing_times,
    require_practice,
    save_own_answer,
    save_verdict,
    skip_question,
)
from review.sheet import ReviewSheet
from sampling.service import draw_batch
from storage.intake.questions import load_question
from storage.reader_study.cases import list_cases
from storage.review.hidden import HIDDEN_MARK
from storage.review.practice import PRACTICE_MARK
from storage.workspace import Workspace

DATASET = "Demo"
GUIDELINE = Path(__file__).with_name("guideline.md")
PRACTICE = PracticePlan(
    name="Practice 1", sound=8, faulty=4, pass_mark=PassMark(found=0.5, accepted=0.6), seed=1
)
#: Number of judgements per sitting, and seconds between two judgements.
_JUDGEMENTS_PER_SITTING, _PAUSE_SECONDS = 18, 4.0
#: Secret of the id mask of the demo's hidden questions. It is fixed here; a real batch draws a random secret.
_ID_MASK_SECRET = 0x2545_F491_4F6C_DD1D >> 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoBatch:
    """A batch of the demo: its plan and settings, its reviewers, and how much they have reviewed.

    ``done_shares`` states for each reviewer the share of questions with a verdict.
    """

    name: str
    plan: SamplingPlan
    settings: BatchSettings
    done_shares: tuple[tuple[DemoPerson, float], ...]
    days_ago: int
    overlap: int = 1
    hidden: HiddenPlan | None = None
    adjudicator: DemoPerson | None = None


def list_demo_batches() -> tuple[DemoBatch, ...]:
    """List three batches with different settings, and one with double reading and hidden questions."""
    guideline = GUIDELINE.read_text(encoding="utf-8")
    return (
        DemoBatch(
            name="Image alignment",
            plan=SamplingPlan(seed=27, per_1000=None, n=24),
            settings=BatchSettings(parts=FormScope.IMAGE_ALIGNMENT, show_report=True, guideline=guideline),
            done_shares=((RAVI, 0.5), (RENATE, 1.0)),
            days_ago=10,
        ),
        DemoBatch(
            name="Answer first",
            plan=SamplingPlan(seed=8, per_1000=None, n=30),
            settings=BatchSettings(mode=Mode.ANSWER_FIRST, guideline=guideline),
            done_shares=((RAVI, 0.0), (RENATE, 0.6)),
            days_ago=8,
        ),
        DemoBatch(
            name="Round 1",
            plan=SamplingPlan(seed=7, per_1000=100),
            settings=BatchSettings(show_report=True, guideline=guideline),
            done_shares=((ROSA, 0.33), (RAVI, 0.9)),
            days_ago=6,
        ),
        DemoBatch(
            name="Double reading",
            plan=SamplingPlan(seed=5, per_1000=None, n=40),
            settings=BatchSettings(guideline=guideline),
            done_shares=((ROSA, 0.85), (RENATE, 1.0)),
            days_ago=4,
            overlap=2,
            hidden=HiddenPlan(repeat_share=0.25, min_distance=6, planted_count=10, seed=5),
            adjudicator=RAVI,
        ),
    )


def build_history(
    db: Session,
    *,
    workspace: Workspace,
    file: Path,
    question_set: QuestionSet,
    seed: int,
    now: datetime,
    report_progress: Callable[[str], None],
) -> None:
    """Fill an empty workspace in the transaction of the caller."""
    people = add_people(db, by=command_line_person(), now=now - timedelta(days=13))
    dana = people[DANA.name]
    report_progress("Importing the questions and their images")
    import_report = import_questions(
        db,
        by=dana,
        path=file,
        file_format="native",
        dataset=DATASET,
        images=file.parent / "images",
        workspace=workspace,
        now=now - timedelta(days=12),
    )
    report_progress(
        f"{import_report.questions:,} questions on {import_report.exams} exams imported; drawing batches,"
        " simulating reviews"
    )
    for batch in list_demo_batches():
        drawn_at = now - timedelta(days=batch.days_ago)
        draw = draw_batch(
            db,
            by=dana,
            dataset=DATASET,
            plan=batch.plan,
            batch_name=batch.name,
            settings=batch.settings,
            now=drawn_at,
        )
        assign(
            db,
            by=dana,
            batch=batch.name,
            to=[person.name for person, _ in batch.done_shares],
            overlap=batch.overlap,
            now=drawn_at + timedelta(minutes=6),
        )
        planted = _set_up_hidden_questions(
            db, batch, by=dana, question_set=question_set, now=drawn_at + timedelta(minutes=9)
        )
        for person, share in batch.done_shares:
            _simulate_review(
                db,
                person=people[person.name],
                batch_id=draw.batch.id,
                share=share,
                planted_by_row_id=planted,
                question_set=question_set,
                rng=random.Random(f"{seed}/{batch.name}/{person.name}"),
                first_at=drawn_at,
                last_at=now,
            )
    _add_practice_set(db, people=people, by=dana, question_set=question_set, seed=seed, now=now)
    report_progress("Simulating readers of a study")
    study = create_studies(
        db,
        by=dana,
        dataset=DATASET,
        exams=import_report.exams,
        models=[model.name for model in MODELS],
        now=now,
    )
    scored_cases = [case for case in list_cases(db, study_id=study.id) if case.scored]
    import_simulated_models(db, by=dana, study=study.name, cases=scored_cases, now=now)


def _add_practice_set(
    db: Session,
    *,
    people: dict[str, Person],
    by: Person,
    question_set: QuestionSet,
    seed: int,
    now: datetime,
) -> None:
    """Create a practice set that one reviewer has done, and from which another is exempted.

    The set has fewer questions than planned if fewer are settled. Without sound or faulty ones, none is made.
    """
    created_at = now - timedelta(days=2)
    candidates = count_practice_candidates(db, by=by, batch="Round 1")
    if not (candidates.sound and candidates.faulty):
        return
    plan = replace(
        PRACTICE,
        sound=min(PRACTICE.sound, candidates.sound),
        faulty=min(PRACTICE.faulty, candidates.faulty),
    )
    practice = create_practice_from_batch(db, by=by, batch="Round 1", plan=plan, now=created_at)
    assign_practice(db, by=by, practice=practice.name, to=[RENATE.name], now=created_at)
    _simulate_review(
        db,
        person=people[RENATE.name],
        batch_id=practice.id,
        share=1.0,
        planted_by_row_id={},
        question_set=question_set,
        rng=random.Random(f"{seed}/{practice.name}"),
        first_at=created_at,
        last_at=now,
    )
    require_practice(db, by=by, batch="Answer first", practices=[practice.name], now=now)
    exempt_reviewer(
        db, by=by, batch="Answer first", reviewer=RAVI.name, reason="Reviewed the pilot.", now=now
    )


def _set_up_hidden_questions(
    db: Session, batch: DemoBatch, *, by: Person, question_set: QuestionSet, now: datetime
) -> dict[int, PlantedError]:
    """Set the adjudicator and hide questions, if planned. Returns the planted faults by question id."""
    if batch.adjudicator is not None:
        rules = AdjudicationRules(adjudicators=(batch.adjudicator.name,))
        change_adjudication_rules(db, by=by, batch=batch.name, rules=rules, revision=0, now=now)
    if batch.hidden is None:
        return {}
    hide_questions(db, by=by, batch=batch.name, plan=batch.hidden, mask_secret=_ID_MASK_SECRET, now=now)
    planted = {}
    for hidden_line in list_hidden_questions(db, by=by, batch=batch.name):
        if hidden_line.hidden.fault is not None:
            kind = min(DETECTING_ERRORS[hidden_line.hidden.fault])
            planted[hidden_line.hidden.question_row_id] = PlantedError(
                kind=kind,
                question=load_question(db, question_id=hidden_line.hidden.question_row_id),
                corrected=question_set.find_question(hidden_line.source_question_id),
            )
    return planted


def _simulate_review(
    db: Session,
    *,
    person: Person,
    batch_id: int,
    share: float,
    planted_by_row_id: dict[int, PlantedError],
    question_set: QuestionSet,
    rng: random.Random,
    first_at: datetime,
    last_at: datetime,
) -> None:
    """Simulate sittings from ``first_at`` to ``last_at`` that review ``share`` of the person's questions."""
    sheet = load_sheet(db, person=person, batch_id=batch_id, now=first_at)
    wanted_count = round(sheet.progress.total * share) if sheet else 0
    sittings = -(-wanted_count // _JUDGEMENTS_PER_SITTING)
    for sitting in range(sittings):
        # The last sitting ends well before ``last_at``, and start times are jittered.
        gap = (last_at - first_at - timedelta(hours=4)) / (sittings + 1)
        clock = first_at + gap * (sitting + 1) + timedelta(seconds=rng.uniform(0, 1800))
        for _ in range(min(_JUDGEMENTS_PER_SITTING, wanted_count - sitting * _JUDGEMENTS_PER_SITTING)):
            sheet = load_sheet(db, person=person, batch_id=batch_id, now=clock)
            if sheet is None:
                return
            clock = _judge_one(
                db,
                sheet,
                person=person,
                planted_by_row_id=planted_by_row_id,
                question_set=question_set,
                rng=rng,
                clock=clock,
            )


def _judge_one(
    db: Session,
    sheet: ReviewSheet,
    *,
    person: Person,
    planted_by_row_id: dict[int, PlantedError],
    question_set: QuestionSet,
    rng: random.Random,
    clock: datetime,
) -> datetime:
    """Judge or skip the current question. Returns the time at which the reviewer finishes it.

    Questions of a practice set are never skipped.
    """
    question_reference: dict[str, Any] = {
        "person": person,
        "batch_id": sheet.batch.id,
        "question_row_id": sheet.question_row_id,
    }
    settings = sheet.batch.settings
    question_id = sheet.stem_only.id.split(HIDDEN_MARK)[0].split(PRACTICE_MARK)[0]
    planted = planted_by_row_id.get(sheet.question_row_id) or question_set.planted.get(question_id)
    question = planted.question if planted is not None else question_set.find_question(question_id)
    simulated = simulate_verdict(question, planted, rng=rng, all_fields=settings.parts is FormScope.ALL)
    done_at = clock + timedelta(seconds=simulated.seconds)
    if settings.mode is Mode.ANSWER_FIRST:
        own_answer: Answer | None = question.answer
        if planted is not None:
            own_answer = planted.corrected.answer if planted.corrected else None
        save_own_answer(
            db,
            **question_reference,
            answer=own_answer,
            confidence=rng.choice((3, 4, 4, 5)),
            now=clock + timedelta(seconds=15),
        )
    record_viewing_times(
        db,
        **question_reference,
        seconds=simulated.seconds,
        seconds_looking=simulated.seconds_looking,
        seconds_away=simulated.seconds_away,
        now=done_at,
    )
    if simulated.skip_reason and PRACTICE_MARK not in sheet.stem_only.id:
        skip_question(db, **question_reference, reason=simulated.skip_reason, now=done_at)
        return done_at
    save_verdict(
        db,
        person=person,
        verdict=Verdict(
            batch_id=sheet.batch.id,
            question_row_id=sheet.question_row_id,
            person_id=person.id,
            revision=1,
            decision=simulated.decision,
            opinion=simulated.opinion,
            seconds=simulated.seconds,
            seconds_looking=simulated.seconds_looking,
            seconds_away=simulated.seconds_away,
            given_at=done_at,
            why=SIMULATED,
        ),
    )
    return done_at + timedelta(seconds=_PAUSE_SECONDS)
