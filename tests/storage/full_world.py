"""A workspace with at least one row in every table, created through the services.

Only the questions and exams of the dataset "demo", its people and its first draw are inserted directly
(worlds.py). A table that is added later needs a row here; a test names the tables that have none.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyotp
from sqlalchemy import Engine, select, text
from sqlmodel import Session

from accounts import service as accounts
from accounts.service.audit import record_action
from browsing import service as browsing
from domain.adjudications import Adjudication, AdjudicationRules
from domain.batches import BatchSettings, Mode, RiskDesign, SamplingPlan
from domain.checks import Check
from domain.duplicates import CalibrationPair
from domain.evaluations import AnsweredBy, Condition, EvaluationCase, ImageSize
from domain.hidden import HiddenPlan, PlantedFault
from domain.image_display import ImageDisplay
from domain.jobs import JobProgress, JobStatus
from domain.language_models import Call, DataUse, Endpoint, RequestStatus, Usage
from domain.leaderboards import ModelAccess, Quotas, Reference, ReferenceKind, SubmissionDetails
from domain.marks import AnswerMark, MarkerRole, ReplyId
from domain.patient_data import PixelDecision
from domain.people import Role
from domain.practice import KnownAnswer, PassMark
from domain.protocols import Protocol
from domain.region_checks import SentenceId, SentenceMark
from domain.second_opinions import SecondOpinionScope
from domain.verdicts import Decision, ErrorKind
from domain.vocabulary import AnswerFormat, Difficulty
from evaluation.cases import ConditionCases
from evaluation.service.plans import PlanSettings, add_run
from generation import service as generation
from intake.service import import_questions
from jobs import service as jobs
from language_models import service as language_models
from language_models.bench_sheet import BenchSheet
from language_models.prompts import parse_prompt
from notifications import service as notifications
from privacy import service as privacy
from quality import service as quality
from quality.juries.criteria import read_shipped_prompt
from reader_study import service as studies
from reader_study.marking_sheet import MarkingSheet
from release import service as release_service
from release.service import record_release
from release.splits import Split
from review import service as review
from sampling.service import draw_batch
from storage.evaluation.evaluations import add_evaluation
from storage.evaluation.score_columns import add_column
from storage.jobs import jobs as job_storage
from storage.language_models.calls import append_calls
from storage.leaderboard import boards as leaderboards
from storage.leaderboard import submissions
from storage.quality.juries import add_judge, add_jury
from storage.reader_study.cases import list_blind_cases
from storage.release import errata
from storage.review.assignments import find_assignment
from storage.review.practice import list_practice_questions
from storage.rows.all_tables import metadata
from storage.rows.language_models import ModelRequestRow
from storage.sampling.batches import iterate_batch_questions
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from terminology.taxonomy import NamedField
from tests.golden.release_world import write_test_release
from tests.storage.backup_worlds import BY, add_images, make_png
from tests.storage.import_worlds import make_record, to_json_lines
from tests.storage.job_kinds import COUNT, Count
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.model_server import make_completion
from tests.storage.study_worlds import (
    SOURCE,
    StudyWorld,
    answer_case,
    make_design,
    make_study_world,
    read_all,
)
from tests.storage.worlds import NOW, World

IMPORTED = "imported"


def fill_every_table(engine: Engine, home: Path) -> Workspace:
    """Fill an empty workspace; its files are below ``home``."""
    with unit_of_work(engine) as db:  # permitted only while no admin exists
        accounts.create_first_admin_code(db, by=BY, code="ABCD-EFGH-JKMN", now=NOW)
    study_world = make_study_world(engine, questions=26, open_questions=2)
    workspace = add_images(engine, home)
    _add_people_and_sign_ins(study_world)
    _add_readings(study_world, home)
    _mark_open_answers(study_world)
    _import_dataset(study_world, workspace)
    _calibrate_duplicates(study_world)
    _map_names(study_world)
    _scan_for_patient_data(study_world, workspace)
    _add_verdicts(study_world)
    _add_answer_first_batch(study_world)
    _add_shared_batch(study_world)
    _add_comments(study_world)
    _add_hidden_questions(study_world)
    _add_practice(study_world)
    _carry_out_bulk_actions(study_world)
    _run_jobs(study_world)
    _ask_models(study_world)
    _plan_jury(study_world)
    written_release = write_test_release(study_world.world, home / "releases" / "demo-v1")
    with unit_of_work(engine) as db:
        release = record_release(db, by=BY, release=written_release, now=NOW)
    _plan_evaluation(study_world, release.id)
    _fill_leaderboard(study_world, release.id)
    _report_problem(study_world, release.id)
    with unit_of_work(engine) as db:
        plan = SamplingPlan(seed=99, per_1000=1000, risk=RiskDesign())
        draw_batch(db, by=BY, dataset=IMPORTED, plan=plan, batch_name="by risk", now=NOW)
    with unit_of_work(engine) as db:
        browsing.index_questions(db)
    return workspace


def count_all_rows(engine: Engine) -> dict[str, int]:
    """Count the rows of every table that the code or the database knows, except SQLite's and Alembic's."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            table_names = connection.execute(text("SELECT name FROM sqlite_schema WHERE type = 'table'"))
        else:
            table_names = connection.execute(
                text("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
            )
        names = {*metadata.tables, *table_names.scalars()}
        return {
            name: connection.exec_driver_sql(f'SELECT count(*) FROM "{name}"').scalar_one()
            for name in sorted(names)
            if not name.startswith(("sqlite_", "question_words_")) and name != "alembic_version"
        }


def _add_people_and_sign_ins(study_world: StudyWorld) -> None:
    with unit_of_work(study_world.engine) as db:
        accounts.add_person(
            db, by=BY, name="anna", display_name="Anna Größer", roles=[Role.REVIEWER],
            password="correct horse battery", now=NOW,
        )  # fmt: skip
        accounts.start_sign_in(
            db, person=study_world.people["ruth"], token="live", previous_token=None, now=NOW
        )
        accounts.start_sign_in(
            db, person=study_world.people["remo"], token="ended", previous_token=None, now=NOW
        )
        accounts.sign_out(db, token="ended", now=NOW)
        accounts.begin_attempt(db, name="ruth", address="192.0.2.1", token=None, now=NOW)
        remo, secret = study_world.people["remo"], "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
        accounts.save_own_key(db, person=remo, action="accept", key="Shift+J", now=NOW)
        notifications.save_own_mail_setting(db, person=remo, address="remo@example.org", wanted=True, now=NOW)
        accounts.begin_setup(db, person=remo, new_secret=secret, now=NOW)
        accounts.confirm_setup(
            db,
            person=remo,
            token=None,
            code=pyotp.TOTP(secret).at(NOW),
            new_recovery_codes=["A", "B"],
            now=NOW,
        )
        accounts.begin_second_factor(
            db, person=remo, token="step", method="password", password=None, policy=accounts.SignInPolicy(),
            now=NOW,
        )  # fmt: skip


def _add_readings(study_world: StudyWorld, home: Path) -> None:
    """Make studies in every state: reading of "first" has not begun.

    "read" is finished by rea and begun by rob, "closed" has one reading, "from a file" only imported
    readings.
    """
    read_study = _new_study(study_world, "read", readers=["rea", "rob"])
    read_all(read_study, "rea")
    answer_case(read_study, "rob")
    with unit_of_work(read_study.engine) as db:
        target: dict[str, Any] = {
            "person": read_study.people["rob"],
            "study_id": read_study.study.id,
            "position": 2,
            "now": NOW,
        }
        studies.save_reading_draft(db, **target, revision=0, body={"answer": [1]})
        studies.record_reading_time(db, **target, seconds=9, seconds_looking=5, seconds_away=2)
        studies.exclude_readings(
            db, by=read_study.cora, study="read", case=1, reason="The image is cut off.", now=NOW
        )
        protocol = studies.list_protocol_versions(db, by=read_study.cora, study="read")[-1].protocol
        amended_protocol = replace(protocol, margin=0.05)
        studies.change_protocol(
            db,
            by=read_study.cora,
            study="read",
            protocol=amended_protocol,
            reason="An error of typing.",
            now=NOW,
        )
    closed_study = _new_study(read_study, "closed", readers=["rea"])
    imported_study = _new_study(read_study, "from a file", readers=[])
    answer_case(closed_study, "rea")
    with unit_of_work(read_study.engine) as db:
        studies.remove_reader(db, by=read_study.cora, study="first", reader="rob", now=NOW)
        studies.close_study(db, by=read_study.cora, study="closed", now=NOW)
        question = list_blind_cases(db, study_id=imported_study.study.id)[0].question_id
        content = (
            "study,reader,question_id,answer,confidence,seconds,read_at\n"
            f"from a file,ext-1,{question},B,3,12.5,2026-03-02T09:00:00Z\n"
        )
        studies.import_readings(
            db,
            by=read_study.cora,
            study="from a file",
            content=content.encode(),
            file="readings.csv",
            now=NOW,
        )
    predictions = home.parent / "predictions.jsonl"
    records = [{"question_id": "Q1", "answer": "B", "seconds": 1.5}, {"question_id": "Q2", "raw": "Unsure."}]
    predictions.write_text("".join(json.dumps(prediction) + "\n" for prediction in records), encoding="utf-8")
    with unit_of_work(read_study.engine) as db:
        studies.import_predictions(
            db, by=read_study.cora, path=predictions, model="model", dataset="demo", now=NOW
        )
        [model] = studies.list_models(db, by=read_study.cora, dataset="demo")
        studies.mark_extraction(
            db,
            by=read_study.cora,
            study="read",
            reply=ReplyId(model_id=model.id, question_row_id=2),
            revision=1,
            mark=AnswerMark.RIGHT,
            now=NOW,
        )


def _mark_open_answers(study_world: StudyWorld) -> None:
    """Make a study of open answers: one is marked, one was marked and undone."""
    open_study = _new_study(study_world, "open answers", readers=["rea"], format_=AnswerFormat.OPEN, cases=2)
    for text_answer in ("fluid", "nodule"):
        answer_case(open_study, "rea", answer=text_answer)
    with unit_of_work(study_world.engine) as db:
        for role, name in ((MarkerRole.FIRST, "ruth"), (MarkerRole.SECOND, "remo")):
            studies.assign_marker(db, by=open_study.cora, study="open answers", role=role, to=name, now=NOW)
        marker: dict[str, Any] = {"person": open_study.people["ruth"], "study_id": open_study.study.id}
        for mark in (AnswerMark.RIGHT, AnswerMark.WRONG):
            sheet = studies.load_marking_sheet(db, **marker)
            assert isinstance(sheet, MarkingSheet)
            studies.mark_answer(db, **marker, answer=sheet.answer.id, revision=1, mark=mark, now=NOW)
            last_answer_id = sheet.answer.id
        studies.mark_answer(db, **marker, answer=last_answer_id, revision=2, mark=None, now=NOW)


def _new_study(
    study_world: StudyWorld,
    name: str,
    *,
    readers: list[str],
    format_: AnswerFormat = AnswerFormat.SINGLE,
    cases: int = 4,
) -> StudyWorld:
    with unit_of_work(study_world.engine) as db:
        study = studies.create_study(
            db,
            by=study_world.cora,
            name=name,
            source=SOURCE,
            design=make_design(cases, formats=(format_,)),
            protocol=Protocol(),
            now=NOW,
        )
        if readers:
            studies.assign_readers(db, by=study_world.cora, study=name, to=readers, now=NOW)
    return replace(study_world, study=study)


def _import_dataset(study_world: StudyWorld, workspace: Workspace) -> None:
    """Import a dataset from a file: eight hard questions, one with a problem, one that names a patient."""
    path = workspace.home.parent / "questions.jsonl"
    hard_records = [
        make_record(number, difficulty="hard", stem=f"What is seen on image {number}?")
        for number in range(1, 9)
    ]
    short_record = make_record(9, explanation="Short.")
    patient_record = make_record(10, explanation="Seen by Dr. John Smith on 03/14/2019, MRN: 12345678.")
    hard_records[0]["provenance"] = {"record": "CXR1", "evidence": [{"kind": "code", "text": "Edema"}]}
    path.write_bytes(to_json_lines(*hard_records, short_record, patient_record))
    with unit_of_work(study_world.engine) as db:
        import_questions(
            db, by=BY, path=path, file_format="native", dataset=IMPORTED, images=None, workspace=workspace,
            now=NOW,
        )  # fmt: skip
    with unit_of_work(study_world.engine) as db:
        check_run = quality.run_checks(
            by=BY, dataset=IMPORTED, clock=lambda: NOW,
            read_session=lambda: nullcontext(db), transaction=lambda: nullcontext(db),
        )  # fmt: skip
        quality.finish_run(db, by=BY, run=check_run, now=NOW)


def _calibrate_duplicates(study_world: StudyWorld) -> None:
    """Draw one pair of questions, and judge it twice."""
    first, second = study_world.world.questions[:2]
    pair = CalibrationPair(first=first, second=second, similarity=0.875, weight=2.5)
    with unit_of_work(study_world.engine) as db:
        quality.store_calibration(db, by=BY, dataset="demo", embedding="größer", pairs=[pair], now=NOW)
        for is_same in (True, None):
            quality.judge_pair(db, by=BY, dataset="demo", pair_id=1, is_same=is_same, now=NOW)


def _map_names(study_world: StudyWorld) -> None:
    """Map the category of a question, and remove the mapping."""
    with read_only_session(study_world.engine) as db:
        names = quality.load_names(db, by=BY, dataset="demo", field=NamedField.CATEGORY).names
    with unit_of_work(study_world.engine) as db:
        for controlled in ("Heart", None):
            quality.map_name(
                db, by=BY, dataset="demo", field=NamedField.CATEGORY, raw=names[0].name,
                controlled=controlled, now=NOW,
            )  # fmt: skip


def _scan_for_patient_data(study_world: StudyWorld, workspace: Workspace) -> None:
    with read_only_session(study_world.engine) as db:
        hits = privacy.find_hits(db, by=BY, dataset=IMPORTED, workspace=workspace)
    images = [hashlib.sha256(make_png(seed)).hexdigest() for seed in (1, 2)]
    with unit_of_work(study_world.engine) as db:
        privacy.record_hits(db, by=BY, result=hits, now=NOW)
        privacy.record_ranks(
            db, by=BY, ranking=("by hand", [(images[0], 0.25, 3), (images[1], 0.0, 0)]), now=NOW
        )
        privacy.decide_images(
            db,
            by=BY,
            decisions=[(images[0], PixelDecision.NO_PATIENT_TEXT)],
            now=NOW,
        )


def _add_verdicts(study_world: StudyWorld) -> None:
    """Judge the batch "first": ruth part of it, remo a share of it; anna adjudicates one dispute."""
    world = study_world.world
    with unit_of_work(world.engine) as db:
        review.assign(db, by=study_world.cora, batch="first", to=["ruth"], now=NOW)
        review.request_second_opinions(
            db,
            by=study_world.cora,
            batch="first",
            to=["remo"],
            scope=SecondOpinionScope.RANDOM_SHARE,
            share=0.25,
            seed=7,
            now=NOW,
        )
        second_opinion_ids = sorted(
            number
            for number in world.questions
            if find_assignment(
                db, batch_id=world.batch.id, question_id=number, person_id=study_world.people["remo"].id
            )
        )
    for number in world.questions[:6]:
        save_verdict(world, make_acceptance(world, question=number))
    for number in set(second_opinion_ids) - {*world.questions[:6]}:
        save_verdict(world, make_acceptance(world, question=number))
    save_verdict(
        world, make_acceptance(world, question=1, revision=2, comment="On second thoughts: größer als 1 cm.")
    )
    save_verdict(world, make_rejection(world, question=second_opinion_ids[0], person="remo"), "remo")
    rules = AdjudicationRules(adjudicators=("anna",))
    with unit_of_work(world.engine) as db:
        review.change_adjudication_rules(
            db, by=study_world.cora, batch="first", rules=rules, revision=0, now=NOW
        )
        anna = accounts.load_person_by_name(db, name="anna")
    adjudication = Adjudication(
        batch_id=world.batch.id, question_row_id=second_opinion_ids[0], person_id=anna.id, revision=1,
        decision=Decision.ACCEPT, reason="It is plain to see.", given_at=NOW + timedelta(hours=1),
        image=ImageDisplay.CONFIRMED,
    )  # fmt: skip
    with unit_of_work(world.engine) as db:
        review.adjudicate(db, person=anna, adjudication=adjudication)


def _draw_named_batch(study_world: StudyWorld, name: str, settings: BatchSettings | None = None) -> World:
    """Draw a batch from the dataset "demo"."""
    plan = SamplingPlan(seed=len(name), per_1000=None, n=20)
    with unit_of_work(study_world.engine) as db:
        draw = draw_batch(
            db, by=study_world.cora, dataset="demo", plan=plan, batch_name=name, settings=settings, now=NOW
        )
    return replace(study_world.world, batch=draw.batch)


def _add_answer_first_batch(study_world: StudyWorld) -> None:
    """Add own answers, an opened report, drafts, viewing times and a skip, and close the batch."""
    world = _draw_named_batch(
        study_world, "answer first", BatchSettings(mode=Mode.ANSWER_FIRST, show_report=True)
    )
    ruth = study_world.people["ruth"]
    with unit_of_work(world.engine) as db:
        review.assign(db, by=study_world.cora, batch="answer first", to=["ruth"], now=NOW)
        numbers = [question.number for question in iterate_batch_questions(db, batch_id=world.batch.id)]
    for number in numbers[:3]:
        target: dict[str, Any] = {
            "person": ruth,
            "batch_id": world.batch.id,
            "question_row_id": number,
            "now": NOW,
        }
        with unit_of_work(world.engine) as db:
            image = ImageDisplay.CONFIRMED
            review.save_own_answer(db, **target, answer=(1,), confidence=4, image=image)
            review.open_report(db, **target, image_alignment=4, image=image)
            review.record_viewing_times(db, **target, seconds=9.5, seconds_looking=8, seconds_away=1)
            review.save_draft(db, **target, part="form", revision=0, body={"comment": "Größe?"})
    save_verdict(world, replace(make_acceptance(world, question=numbers[0]), image=ImageDisplay.DRAWN))
    with unit_of_work(world.engine) as db:
        target |= {"question_row_id": numbers[3]}
        review.skip_question(db, **target, reason="Ask a colleague.")
        review.close_batch(db, by=study_world.cora, batch="answer first", now=NOW)


def _add_shared_batch(study_world: StudyWorld) -> None:
    """Make a shared queue with one question judged and one claimed at this moment."""
    world = _draw_named_batch(study_world, "shared")
    with unit_of_work(world.engine) as db:
        review.share_batch(db, by=study_world.cora, batch="shared", to=["ruth", "remo"], now=NOW)
        claimed_question = review.claim_next(
            db, person=study_world.people["ruth"], batch_id=world.batch.id, now=NOW
        ).question
    save_verdict(world, make_acceptance(world, question=claimed_question))
    with unit_of_work(world.engine) as db:
        review.claim_next(db, person=study_world.people["remo"], batch_id=world.batch.id, now=NOW)


def _add_comments(study_world: StudyWorld) -> None:
    """A reviewer asks; a coordinator reads the comment and answers it."""
    world = study_world.world
    number = world.questions[0]
    with unit_of_work(study_world.engine) as db:
        review.write_comment(
            db,
            person=study_world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=number,
            text="Is the lateral view missing?",
            now=NOW,
        )
        review.write_to_reviewer(
            db, by=study_world.cora, batch=world.batch.name, question_row_id=number, reviewer="ruth",
            text="It was never taken.", now=NOW,
        )  # fmt: skip


def _add_hidden_questions(study_world: StudyWorld) -> None:
    """Make a batch with hidden questions, of which one was removed."""
    world = _draw_named_batch(study_world, "with hidden questions")
    plan = HiddenPlan(
        repeat_share=0.2, min_distance=3, planted_count=2, faults=(PlantedFault.KEY_SWAPPED,), seed=3
    )
    with unit_of_work(world.engine) as db:
        review.assign(db, by=study_world.cora, batch=world.batch.name, to=["ruth"], now=NOW)
        review.hide_questions(
            db, by=study_world.cora, batch=world.batch.name, plan=plan, mask_secret=0x1234_5678_9ABC, now=NOW
        )
        hidden_number = review.list_hidden_questions(db, by=study_world.cora, batch=world.batch.name)[
            0
        ].hidden.question_row_id
        review.remove_hidden(
            db,
            by=study_world.cora,
            batch=world.batch.name,
            numbers=[hidden_number],
            reason="Too easy.",
            now=NOW,
        )


def _add_practice(study_world: StudyWorld) -> None:
    """Ruth finishes a practice set, which a batch requires, and is exempted for that batch."""
    world = _draw_named_batch(study_world, "with practice")
    answers = {
        "Q1": KnownAnswer(decision=Decision.ACCEPT),
        "Q2": KnownAnswer(decision=Decision.REJECT, errors=frozenset({ErrorKind.WRONG_KEY})),
    }
    plan = review.PracticePlan(name="practice", sound=1, faulty=1, pass_mark=PassMark())
    with unit_of_work(world.engine) as db:
        practice = review.create_practice_from_answers(
            db, by=study_world.cora, dataset=world.dataset, answers=answers, file_name="known.json",
            plan=plan, settings=BatchSettings(), now=NOW,
        )  # fmt: skip
        review.assign_practice(db, by=study_world.cora, practice="practice", to=["ruth"], now=NOW)
        review.require_practice(
            db, by=study_world.cora, batch=world.batch.name, practices=["practice"], now=NOW
        )
        review.exempt_reviewer(
            db, by=study_world.cora, batch=world.batch.name, reviewer="ruth", reason="Reviewed the pilot.",
            now=NOW,
        )  # fmt: skip
        questions = list_practice_questions(db, practice_id=practice.id)
    practice_world = replace(world, batch=replace(world.batch, id=practice.id))
    for number, _ in questions:
        save_verdict(practice_world, make_acceptance(practice_world, question=number))


def _carry_out_bulk_actions(study_world: StudyWorld) -> None:
    """Queue questions of a search and undo this; then reject the same questions."""
    hard_questions = browsing.Search(dataset=IMPORTED, difficulty=Difficulty.HARD)
    with unit_of_work(study_world.engine) as db:
        browsing.index_questions(db)
        queue_action = browsing.queue_matching(
            db,
            by=BY,
            search=hard_questions,
            reason="Look at them.",
            batch_name="from a search",
            expected=8,
            now=NOW,
        )
        browsing.undo_bulk_action(db, by=BY, number=queue_action.number, reason="It was too much.", now=NOW)
        browsing.reject_matching(
            db, by=BY, search=hard_questions, reason="They need a prior.", expected=8, now=NOW
        )


def _ask_models(study_world: StudyWorld) -> None:
    """Make a run of two requests of which one is answered, with a prompt version."""
    endpoint = Endpoint(name="local", url="http://127.0.0.1:9/v1", model="m", data_use=DataUse.LOCAL)
    with unit_of_work(study_world.engine) as db:
        stored_endpoint = language_models.save_endpoint(db, by=BY, endpoint=endpoint, now=NOW)
        language_models.set_data_use(db, by=BY, dataset="demo", data_use=DataUse.ZERO_RETENTION, now=NOW)
        content = 'name = "mcq"\nuser = "Report: ${report}"\n'
        prompt, _ = language_models.save_prompt(db, by=BY, content=content, note="The first.", now=NOW)
        language_models.save_example(
            db, by=BY, prompt="mcq", dataset="demo", exam="E1", variables={"report": "Größer."}, reply="1.",
            radiographs=["pa"], now=NOW,
        )  # fmt: skip
        requests = [
            parse_prompt(content).build_request(
                custom_id=f"r{number}", values={"report": f"Größer {number}."}
            )
            for number in range(2)
        ]
        run, _ = language_models.create_run(
            db, by=BY, name="run", stage="test", endpoint=stored_endpoint, dataset="demo", requests=requests,
            prompt=prompt, now=NOW,
        )  # fmt: skip
        call = Call(
            key="0" * 64, run_id=run.id, position=0, endpoint_id=stored_endpoint.id, round=0, failure=None,
            error="", raw='{"choices": []}', model="m", fingerprint=None, finish_reason="stop",
            usage=Usage(prompt_tokens=5), cost_nanos=None, price_source="", attempts=1, seconds=0.25,
            called_at=NOW,
        )  # fmt: skip
        append_calls(db, calls=[call])
        _score_outputs(db, study_world, call)
        _mark_sentences(db, study_world, call)


def _mark_sentences(db: Session, study_world: StudyWorld, call: Call) -> None:
    """Make a region check with one report, and mark its sentence."""
    content = 'name = "gemex-regions"\nuser = "${report}"\n'
    prompt, _ = language_models.save_prompt(db, by=BY, content=content, note="Größer.", now=NOW)
    run, _ = language_models.create_run(
        db, by=BY, name="regions", stage="gemex-regions", dataset="demo", prompt=prompt, now=NOW,
        endpoint=language_models.load_endpoint(db, by=BY, name="local"),
        requests=[
            parse_prompt(content).build_request(custom_id="E1", values={"report": "1. Größer ist es."})
        ],
    )  # fmt: skip
    row = db.execute(select(ModelRequestRow).where(ModelRequestRow.run_id == run.id)).scalar_one()
    row.status = RequestStatus.DONE.value
    pair = {"number": 1, "sentence": "Größer ist es.", "region": "spine"}
    raw = make_completion(json.dumps({"pairs": [pair]}), model="m")
    append_calls(db, calls=[replace(call, key=row.key, run_id=None, raw=raw)])
    check = generation.create_region_check(
        db, by=BY, name="May", run="regions", reports=1, seed=7, dataset="demo", now=NOW
    )
    generation.assign_region_experts(db, by=BY, check="May", to=["ruth"], now=NOW)
    sentence = SentenceId(report=1, sentence=1)
    for revision, mark in ((1, SentenceMark.WRONG_REGION), (2, None), (3, SentenceMark.RIGHT)):
        generation.mark_sentence(
            db, person=study_world.people["ruth"], check_id=check.id, sentence=sentence, revision=revision,
            mark=mark, now=NOW,
        )  # fmt: skip


def _score_outputs(db: Session, study_world: StudyWorld, call: Call) -> None:
    """Make a prompt bench with one output, and score it."""
    language_models.save_prompt(
        db, by=BY, content='name = "mcq"\nuser = "Größer: ${report}"\n', note="The second.", now=NOW
    )
    bench = language_models.create_bench(
        db, by=BY, name="May", dataset="demo", endpoint="local", prompts=["mcq@1", "mcq@2"], reports=2,
        seed=7, now=NOW,
    )  # fmt: skip
    language_models.assign_experts(db, by=BY, bench="May", to=["ruth"], now=NOW)
    key = db.execute(
        select(ModelRequestRow.key).where(ModelRequestRow.custom_id == "1").limit(1)
    ).scalar_one()
    append_calls(db, calls=[replace(call, key=key, run_id=None, raw=make_completion("Größer?", model="m"))])
    expert: dict[str, Any] = {"person": study_world.people["ruth"], "bench_id": bench.id}
    sheet = language_models.open_output(db, **expert)
    assert isinstance(sheet, BenchSheet)
    for revision, score in ((1, 2), (2, None), (3, 4)):
        language_models.score_output(db, **expert, cell=sheet.cell, revision=revision, score=score, now=NOW)


def _plan_evaluation(study_world: StudyWorld, release_id: int) -> None:
    """Store an evaluation with one run and external scores, as the services do."""
    with unit_of_work(study_world.engine) as db:
        evaluation_id = add_evaluation(
            db, name="größer", release_id=release_id, split="public", answered_by=AnsweredBy.FILE, model="m",
            is_test_model=False, prompt_id=None, image_size=ImageSize.FULL, seed=1, by=None, now=NOW,
        )  # fmt: skip
        record_action(db, by=BY, action="plan evaluation", subject=f"evaluation {evaluation_id}", now=NOW)
        settings = PlanSettings(
            name="größer",
            dataset="demo",
            release="demo-v1",
            split=Split.PUBLIC,
            conditions=(Condition.SHUFFLED,),
        )
        case = EvaluationCase(question_row_id=1, permutation=(2, 0, 1), other_exam=2, stem="Größer?")
        add_run(
            db, settings, evaluation_id, Condition.SHUFFLED,
            ConditionCases(cases=(case,), excluded={"no other patient": 1}),
            by=BY, model_run_id=None, now=NOW,
        )  # fmt: skip
        add_column(
            db, evaluation_id=evaluation_id, name="größer", version="1", scores={1: 0.5}, by=None, now=NOW
        )
        record_action(
            db, by=BY, action="import scores from outside", subject=f"release {release_id}", now=NOW
        )


def _plan_jury(study_world: StudyWorld) -> None:
    """Store a jury with a judge who is excluded from a question, as a plan does."""
    with unit_of_work(study_world.engine) as db:
        prompt = language_models.save_shipped_prompt(
            db, by=BY, content=read_shipped_prompt(Check.DIFFICULTY), now=NOW
        )
        jury_id = add_jury(
            db, dataset_id=1, questions=1, unknown_authors=1, written_by="größer", override_reason="",
            person_id=study_world.cora.id, now=NOW,
        )  # fmt: skip
        add_judge(
            db, jury_id=jury_id, check=Check.DIFFICULTY, family="größer", model="m", is_test_model=False,
            prompt_id=prompt.id, model_run_id=None, excluded=[1],
        )  # fmt: skip
        record_action(db, by=BY, action="plan jury", subject="dataset 1", now=NOW)


def _report_problem(study_world: StudyWorld, release_id: int) -> None:
    """Store a reported problem of the first released question, as a service does."""
    with unit_of_work(study_world.engine) as db:
        question = errata.list_reportable_questions(
            db, release_id=release_id, person_id=0, sees_all=True, limit=1
        )[0]
        reported = release_service.open_reportable_question(
            db, by=BY, release_id=release_id, question_id=question.question_id
        )
        release_service.report_problem(
            db, by=BY, reported=reported, kind=ErrorKind.WORDING, text="größer", now=NOW
        )


def _fill_leaderboard(study_world: StudyWorld, release_id: int) -> None:
    """Store a leaderboard with a team and its submission, as the services do."""
    with unit_of_work(study_world.engine) as db:
        board_id = leaderboards.add_leaderboard(
            db, name="größer", quotas=Quotas(per_day=1, per_month=2, total=3), uses_ladder=True, seed=1,
            by=None, now=NOW,
        )  # fmt: skip
        leaderboards.add_version(
            db, leaderboard_id=board_id, version=1, release_id=release_id, keys_sha256="0" * 64, now=NOW,
            questions=leaderboards.PrivateQuestions(question_ids=("größer",), clusters=(0,)),
        )  # fmt: skip
        chance = Reference(kind=ReferenceKind.CHANCE, name="größer", n=1, estimate=0.5)
        leaderboards.add_references(db, leaderboard_id=board_id, version=1, references=[chance], now=NOW)
        team_id = leaderboards.add_team(db, leaderboard_id=board_id, name="größer", now=NOW)
        leaderboards.add_member(
            db, leaderboard_id=board_id, team_id=team_id, person_id=study_world.people["ruth"].id
        )
        submission_id = submissions.add_submission(
            db, team_id=team_id, file_sha256="0" * 64, file_bytes=9, answers=["größer", None, (1,)], by=None,
            now=NOW, details=SubmissionDetails(method="größer", access=ModelAccess.API, is_public=True),
        )  # fmt: skip
        submissions.add_score(
            db, submission_id=submission_id, version=1, now=NOW,
            score=submissions.NewScore(
                n=1, correct=1, low=0.2, high=1.0, outcomes="80", is_disclosed=True, code_version="0"
            ),
        )  # fmt: skip
        submissions.add_selection(db, team_id=team_id, submission_id=submission_id, by=None, now=NOW)
        board, team = f"leaderboard {board_id}", f"leaderboard {board_id} team {team_id}"
        submission = f"{team} submission {submission_id}"
        for action, subject in (
            ("create leaderboard", board), ("add team", team), ("change members of team", team),
            ("submit predictions", submission), ("select submission", submission),
        ):  # fmt: skip
            record_action(db, by=BY, action=action, subject=subject, now=NOW)


def _run_jobs(study_world: StudyWorld) -> None:
    """Run one job to its end, and leave another one running."""
    with unit_of_work(study_world.engine) as db:
        for position in (1, 2):
            job, _ = jobs.start_job(
                db, by=study_world.cora, kind=COUNT, parameters=Count(dataset="demo", to=position), now=NOW
            )
            lease = NOW + timedelta(seconds=30)
            job_storage.claim_job(db, number=job.number, worker="w", lease_until=lease, now=NOW)
            if position == 1:
                job_storage.finish_job(
                    db, number=job.number, worker="w", status=JobStatus.DONE, progress=JobProgress(),
                    message="Counted: größer.", result='{"counted":1}', now=NOW,
                )  # fmt: skip
