"""Practice sets: made of settled questions, judged with feedback, required for batches, in no count."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from accounts.service import command_line_person
from accounts.service.audit_checkpoints import record_checkpoint, verify_and_write_digests
from accounts.service.audit_trail import verify_audit
from domain.adjudications import Adjudication
from domain.batches import SamplingPlan
from domain.corrections import Correction
from domain.errors import AlreadyThere, InvalidValue, NotAllowed, NotFound, Refused
from domain.people import Role
from domain.practice import KnownAnswer, PassMark
from domain.protocols import Protocol
from domain.verdicts import Decision, ErrorKind
from reader_study import service as studies
from review import service as review
from review.known_answers import parse_known_answers
from review.practice import PracticeState, settle_known_answer
from sampling import service as sampling
from storage.intake.datasets import list_datasets
from storage.intake.questions import load_questions
from storage.release import errata
from storage.review.practice import list_results
from storage.rows.audit import AuditRow
from storage.rows.people import PersonRoleRow
from storage.rows.practice import PracticeQuestionRow, PracticeRequirementRow
from storage.rows.releases import ReleaseRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.backup_worlds import make_workspace
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.study_worlds import SOURCE, make_design
from tests.storage.worlds import NOW, World, assign_all, make_batch, make_world

PLAN = review.PracticePlan(
    name="practice", sound=4, faulty=3, pass_mark=PassMark(found=0.6, accepted=0.75), seed=3
)


@pytest.fixture
def world(engine) -> World:
    """Twenty questions. Ruth judged ten; 1, 3 and 5 have a wrong key. The other ten are the batch "next"."""
    small_world = make_world(engine, questions=20)
    with unit_of_work(engine) as db:
        judged = make_batch(
            db, dataset_id=small_world.dataset_id, name="judged", questions=small_world.questions[:10]
        )
        assign_all(db, batch=judged, questions=small_world.questions[:10], person=small_world.people["ruth"])
        next_batch = make_batch(
            db, dataset_id=small_world.dataset_id, name="next", questions=small_world.questions[10:]
        )
    judged_world = replace(small_world, batch=judged)
    for number in small_world.questions[:10]:
        if number in (1, 3, 5):
            verdict = make_rejection(
                judged_world, question=number, kind=ErrorKind.WRONG_KEY, comment="The effusion is left."
            )
        else:
            verdict = make_acceptance(judged_world, question=number)
        save_verdict(judged_world, verdict)
    return replace(judged_world, extra={"next": next_batch})


def create_practice(world: World, plan: review.PracticePlan = PLAN):
    with unit_of_work(world.engine) as db:
        return review.create_practice_from_batch(
            db, by=world.people["cora"], batch="judged", plan=plan, now=NOW
        )


def assign_practice(world: World, name: str = "remo", practice: str = "practice") -> tuple[str, ...]:
    with unit_of_work(world.engine) as db:
        return review.assign_practice(db, by=world.people["cora"], practice=practice, to=[name], now=NOW)


def require_practices(world: World, *practices: str, batch: str = "next") -> review.BatchRequirement:
    with unit_of_work(world.engine) as db:
        return review.require_practice(db, by=world.people["cora"], batch=batch, practices=practices, now=NOW)


def assign_next(world: World, name: str = "remo") -> review.AssignSummary:
    with unit_of_work(world.engine) as db:
        return review.assign(db, by=world.people["cora"], batch="next", to=[name], now=NOW)


def load_faulty(world: World, practice_id: int) -> list[int]:
    with read_only_session(world.engine) as db:
        statement = select(PracticeQuestionRow.question_id).where(
            PracticeQuestionRow.batch_id == practice_id, PracticeQuestionRow.decision != "accept"
        )
        return list(db.execute(statement).scalars())


def judge(world: World, practice, *, find: int, accept: int, name: str = "remo") -> None:
    """Judge the practice set: report the error of ``find`` faulty and accept ``accept`` sound questions."""
    faulty = load_faulty(world, practice.id)
    practice_world = replace(world, batch=replace(world.batch, id=practice.id))
    with read_only_session(world.engine) as db:
        sheet = review.load_sheet(db, person=world.people[name], batch_id=practice.id, now=NOW)
    faulty_count = sound_count = 0
    while sheet is not None:
        number = sheet.question_row_id
        if number in faulty:
            faulty_count += 1
            is_rejected, kind = faulty_count <= find, ErrorKind.WRONG_KEY
        else:
            sound_count += 1
            is_rejected, kind = sound_count > accept, ErrorKind.WORDING
        verdict = (
            make_rejection(practice_world, question=number, person=name, kind=kind)
            if is_rejected
            else make_acceptance(practice_world, question=number, person=name)
        )
        save_verdict(practice_world, verdict, name)
        with read_only_session(world.engine) as db:
            sheet = review.load_sheet(db, person=world.people[name], batch_id=practice.id, now=NOW)


def load_result(world: World, practice, name: str = "remo"):
    with read_only_session(world.engine) as db:
        return review.load_own_practice(db, person=world.people[name], batch_id=practice.id)[1]


# ------------------------------------------------------------------------------------------------ creation
def test_practice_set_has_the_requested_settled_questions(world):
    with read_only_session(world.engine) as db:
        candidates = review.count_practice_candidates(db, by=world.people["cora"], batch="judged")
    assert (candidates.sound, candidates.faulty, candidates.used, candidates.unsettled) == (7, 3, 0, 0)
    practice = create_practice(world)
    assert (practice.sound, practice.faulty) == (4, 3)
    with read_only_session(world.engine) as db:
        candidates = review.count_practice_candidates(db, by=world.people["cora"], batch="judged")
    assert (candidates.sound, candidates.faulty, candidates.used) == (3, 0, 7)


def test_too_few_settled_questions_are_refused_with_numbers(world):
    with pytest.raises(Refused, match=r"3 faulty questions .* but 4 requested"):
        create_practice(world, replace(PLAN, faulty=4))


def test_open_and_disputed_questions_are_not_settled(world):
    with unit_of_work(world.engine) as db:
        assign_all(db, batch=world.batch, questions=world.questions[:3], person=world.people["remo"])
    save_verdict(world, make_acceptance(world, question=1, person="remo"), "remo")
    with read_only_session(world.engine) as db:
        candidates = review.count_practice_candidates(db, by=world.people["cora"], batch="judged")
    # ruth rejected question 1, remo accepted it; questions 2 and 3 are still remo's
    assert (candidates.sound, candidates.faulty, candidates.unsettled) == (6, 1, 3)


def make_revision(world: World, key: int, person: str = "ruth", question: int = 1):
    return make_acceptance(
        world, question=question, person=person, decision=Decision.REVISE, comment="The key is wrong.",
        errors=frozenset({ErrorKind.WRONG_KEY}), correction=Correction(answer=(key,)),
    )  # fmt: skip


@pytest.mark.parametrize(("keys", "unsettled"), [((0, 2), 1), ((2, 2), 0)])
def test_different_corrections_are_not_settled(world, keys, unsettled):
    next_world = replace(world, batch=world.extra["next"])
    question = world.questions[10]
    for name, key in zip(("ruth", "remo"), keys, strict=True):
        with unit_of_work(world.engine) as db:
            assign_all(db, batch=next_world.batch, questions=[question], person=world.people[name])
        save_verdict(next_world, make_revision(next_world, key, name, question), name)
    with read_only_session(world.engine) as db:
        candidates = review.count_practice_candidates(db, by=world.people["cora"], batch="next")
    assert (candidates.faulty, candidates.unsettled) == (1 - unsettled, 9 + unsettled)


def test_adjudication_without_adopted_verdicts_has_no_known_errors(world):
    verdicts = [make_revision(world, 2), make_acceptance(world, question=1, person="remo")]
    rejection = Adjudication(
        batch_id=world.batch.id, question_row_id=1, revision=1, person_id=9, decision=Decision.REJECT,
        reason="The image is cropped.", given_at=NOW,
    )  # fmt: skip
    known_answer = settle_known_answer(verdicts, rejection)
    assert (known_answer.errors, known_answer.correction) == (frozenset(), Correction())
    adopted = settle_known_answer(verdicts, replace(rejection, follows=(verdicts[0].person_id,)))
    assert adopted.errors == {ErrorKind.WRONG_KEY}


@pytest.mark.parametrize("value", ["null", "0", "false", '[["x"]]', '{"errors": null}', "[1]", '{"q'])
def test_invalid_known_answers_are_refused(value):
    with pytest.raises(InvalidValue, match=r"known\.json"):
        parse_known_answers(f'{{"q1": {value}}}', file_name="known.json")


def test_practice_set_with_the_name_of_a_batch_is_refused(world):
    with pytest.raises(AlreadyThere, match="'next' exists"):
        create_practice(world, replace(PLAN, name="next"))


def test_no_questions_are_drawn_into_a_practice_set(world):
    create_practice(world)
    with unit_of_work(world.engine) as db, pytest.raises(Refused, match="'practice' is a practice set"):
        sampling.draw_batch(
            db, by=world.people["cora"], dataset="demo", plan=SamplingPlan(seed=99), batch_name="practice",
            now=NOW,
        )  # fmt: skip


def add_report(world: World, number: int) -> None:
    """Report a problem in a question, as after a release of it."""
    with unit_of_work(world.engine) as db:
        release = ReleaseRow(
            dataset_id=world.dataset_id,
            name="v1",
            rule="",
            items=1,
            manifest_sha256="",
            folder="",
            made_at=NOW,
        )
        db.add(release)
        db.flush()
        [(_, question)] = load_questions(db, question_ids=[number])
        errata.add_report(
            db, release_id=release.id or 0, question=question, question_row_id=number, side="public",
            kind=ErrorKind.WRONG_KEY, text="It is C.", by=None, now=NOW + timedelta(hours=1),
        )  # fmt: skip


def test_question_with_an_open_report_has_no_known_answer(world):
    add_report(world, 2)
    with read_only_session(world.engine) as db:
        candidates = review.count_practice_candidates(db, by=world.people["cora"], batch="judged")
        assert (candidates.sound, candidates.unsettled) == (6, 1)
        [(_, question)] = load_questions(db, question_ids=[2])
    answers = {question.id: KnownAnswer(decision=Decision.ACCEPT)}
    with (
        unit_of_work(world.engine) as db,
        pytest.raises(Refused, match="a problem was reported"),
    ):
        review.create_practice_from_answers(
            db, by=world.people["cora"], dataset="demo", answers=answers, file_name="known.json", plan=PLAN,
            settings=world.batch.settings, now=NOW,
        )  # fmt: skip


def test_practice_set_is_in_no_list_of_datasets_and_batches(world):
    practice = create_practice(world)
    assign_practice(world)
    judge(world, practice, find=3, accept=4)
    with read_only_session(world.engine) as db:
        cora = world.people["cora"]
        assert [dataset.name for dataset in list_datasets(db)] == ["demo"]
        overviews = review.list_batch_overviews(db, by=cora)
        assert sorted(overview.batch.name for overview in overviews) == ["first", "judged", "next"]
        with pytest.raises(NotFound, match="is a practice set"):
            review.load_progress(db, by=cora, batch="practice", now=NOW)
        with pytest.raises(NotFound, match="is a practice set"):
            review.load_named_batch(db, by=cora, name="practice")


def test_error_for_a_file_of_known_answers_names_an_unknown_question(world):
    answers = parse_known_answers('{"q1": "wrong key", "nobody": []}', file_name="known.json")
    with unit_of_work(world.engine) as db, pytest.raises(NotFound, match=r"known.json: .*'nobody'"):
        review.create_practice_from_answers(
            db, by=world.people["cora"], dataset="demo", answers=answers, file_name="known.json", plan=PLAN,
            settings=world.batch.settings, now=NOW,
        )  # fmt: skip


def test_reader_of_an_open_study_gets_no_practice_set_of_its_questions(world):
    cora = world.people["cora"]
    with unit_of_work(world.engine) as db:
        db.add(PersonRoleRow(person_id=world.people["remo"].id, role=Role.READER))
    with unit_of_work(world.engine) as db:
        studies.create_study(
            db, by=cora, name="residents", source=SOURCE, design=make_design(16), protocol=Protocol(), now=NOW
        )
        studies.assign_readers(db, by=cora, study="residents", to=["remo"], now=NOW)
    create_practice(world)
    with pytest.raises(Refused, match="remo is a reader of the open study residents"):
        assign_practice(world)
    assert assign_practice(world, "ruth") == ("ruth",)
    with unit_of_work(world.engine) as db:
        studies.close_study(db, by=cora, study="residents", now=NOW)
    assert assign_practice(world) == ("remo",)


# ------------------------------------------------------------------------------------- feedback and result
def test_feedback_appears_after_the_verdict_only(world):
    practice = create_practice(world)
    assign_practice(world)
    number = load_faulty(world, practice.id)[0]
    remo = world.people["remo"]
    with read_only_session(world.engine) as db:
        sheet = review.load_sheet(db, person=remo, batch_id=practice.id, question=number, now=NOW)
    assert sheet.feedback is None
    practice_world = replace(world, batch=replace(world.batch, id=practice.id))
    save_verdict(practice_world, make_acceptance(practice_world, question=number, person="remo"), "remo")
    with read_only_session(world.engine) as db:
        feedback = review.load_sheet(db, person=remo, batch_id=practice.id, question=number, now=NOW).feedback
    assert not feedback.is_correct
    assert feedback.details == (("Kind of error", "wrong key"), ("Explanation", "The effusion is left."))
    with pytest.raises(Refused, match="cannot be changed"):
        save_verdict(
            practice_world,
            make_rejection(practice_world, question=number, person="remo", revision=2, why="I see it now"),
            "remo",
        )


def test_result_counts_errors_found_and_sound_questions_accepted_with_intervals(world):
    practice = create_practice(world)
    assert assign_practice(world) == ("remo",)
    assert assign_practice(world) == ()  # a second click assigns nothing
    assert load_result(world, practice).state is PracticeState.OPEN
    judge(world, practice, find=2, accept=3)
    score = load_result(world, practice)
    # Found: 2 of 3 is .67; the pass mark is .6. Accepted: 3 of 4 is .75; the pass mark is .75.
    assert (score.found.count, score.found.n, score.accepted.count, score.accepted.n) == (2, 3, 3, 4)
    assert score.state is PracticeState.PASSED
    assert score.found.low < 2 / 3 < score.found.high
    with read_only_session(world.engine) as db:
        [result] = list_results(db)
        entries = db.execute(select(AuditRow.what).where(AuditRow.what == "complete practice set")).all()
    assert (result.found, result.faulty, result.accepted, result.sound, result.passed) == (2, 3, 3, 4, True)
    assert len(entries) == 1


# --------------------------------------------------------------------------------------------- requirement
def test_reviewer_who_fails_gets_no_batch(world):
    practice = create_practice(world)
    require_practices(world, "practice")
    with pytest.raises(Refused, match=r"requires a passed practice set .practice.*remo.*exempt the reviewer"):
        assign_next(world)
    assign_practice(world)
    judge(world, practice, find=1, accept=4)
    assert load_result(world, practice).state is PracticeState.FAILED
    with pytest.raises(Refused, match="Without one: remo"):
        assign_next(world)
    with unit_of_work(world.engine) as db, pytest.raises(Refused, match="Without one: remo"):
        review.share_batch(db, by=world.people["cora"], batch="next", to=["remo"], now=NOW)
    with read_only_session(world.engine) as db, pytest.raises(Refused, match="Without one: remo"):
        review.preview_assign(db, by=world.people["cora"], batch="next", to=["remo"])


def test_reviewer_who_passes_gets_the_batch(world):
    practice = create_practice(world)
    require_practices(world, "practice")
    assign_practice(world)
    judge(world, practice, find=3, accept=4)
    assert assign_next(world).total == 10


def test_one_passed_set_of_two_is_sufficient(world):
    small_plan = replace(PLAN, sound=2, faulty=1)
    first, second = (
        create_practice(world, small_plan),
        create_practice(world, replace(small_plan, name="second try")),
    )
    require_practices(world, "practice", "second try")
    assign_practice(world)
    judge(world, first, find=0, accept=2)
    assign_practice(world, practice="second try")
    with pytest.raises(Refused):
        assign_next(world)
    judge(world, second, find=1, accept=2)
    assert assign_next(world).total == 10


def test_changed_requirement_keeps_the_date_of_each_practice_set_that_stays(world):
    small_plan = replace(PLAN, sound=2, faulty=1)
    create_practice(world, small_plan)
    create_practice(world, replace(small_plan, name="second"))
    for hours, names in enumerate((["practice"], ["practice", "second"], ["second"])):
        with unit_of_work(world.engine) as db:
            review.require_practice(
                db, by=world.people["cora"], batch="next", practices=names, now=NOW + timedelta(hours=hours)
            )
        with read_only_session(world.engine) as db:
            columns = (PracticeRequirementRow.practice_id, PracticeRequirementRow.required_at)
            rows = db.execute(select(*columns).order_by(columns[0])).all()
        assert [row.required_at for row in rows] == {
            0: [NOW], 1: [NOW, NOW + timedelta(hours=1)], 2: [NOW + timedelta(hours=1)],
        }[hours]  # fmt: skip


@pytest.mark.full
def test_changed_requirements_are_no_fault_after_a_checkpoint(world, tmp_path):
    create_practice(world)
    workspace = make_workspace(world.engine, tmp_path / "home")
    require_practices(world, "practice")
    with read_only_session(world.engine) as db:
        measured = verify_and_write_digests(db, by=command_line_person(), workspace=workspace, deposits=None)
    with unit_of_work(world.engine) as db:
        record_checkpoint(
            db, by=command_line_person(), measured=measured, workspace=workspace, accept_because="", now=NOW
        )
    for hours, names in ((1, []), (2, ["practice"])):
        with unit_of_work(world.engine) as db:
            review.require_practice(
                db, by=world.people["cora"], batch="next", practices=names, now=NOW + timedelta(hours=hours)
            )
    with read_only_session(world.engine) as db:
        assert verify_audit(db, by=command_line_person(), workspace=workspace).faults == ()


def test_requirement_locks_questions_that_were_assigned_before(world):
    practice = create_practice(world)
    assign_next(world)
    require_practices(world, "practice")
    batch_id, remo = world.extra["next"].id, world.people["remo"]
    next_world = replace(world, batch=world.extra["next"])
    with read_only_session(world.engine) as db:
        with pytest.raises(Refused, match="Ask a coordinator for one"):
            review.load_page(db, person=remo, batch_id=batch_id, now=NOW)
        with pytest.raises(Refused, match="locked"):
            review.load_exam_for_drawing(db, person=remo, batch_id=batch_id, question=world.questions[10])
        with pytest.raises(NotAllowed):
            review.load_radiograph_file(db, person=remo, exam_row_id=world.exams[5], radiograph_key="missing")
    with pytest.raises(Refused, match="locked"):
        save_verdict(
            next_world, make_acceptance(next_world, question=world.questions[10], person="remo"), "remo"
        )
    assign_practice(world)
    with (
        read_only_session(world.engine) as db,
        pytest.raises(Refused, match="Judge practice set practice next"),
    ):
        review.load_page(db, person=remo, batch_id=batch_id, now=NOW)
    with read_only_session(world.engine) as db:
        listed = {entry.batch.name: entry for entry in review.list_batches_for_reviewer(db, person=remo)}
    assert (listed["next"].is_locked, listed["practice"].is_practice, listed["practice"].is_locked) == (
        True, True, False,
    )  # fmt: skip
    judge(world, practice, find=0, accept=4)
    with read_only_session(world.engine) as db, pytest.raises(Refused, match=r"Not passed: practice. Ask"):
        review.load_page(db, person=remo, batch_id=batch_id, now=NOW)
    require_practices(world)  # no requirement any more
    with read_only_session(world.engine) as db:
        assert review.load_page(db, person=remo, batch_id=batch_id, now=NOW) is not None


def test_exemption_opens_the_batch_and_is_on_record(world):
    create_practice(world)
    require_practices(world, "practice")
    cora = world.people["cora"]
    with unit_of_work(world.engine) as db, pytest.raises(InvalidValue, match="reason"):
        review.exempt_reviewer(db, by=cora, batch="next", reviewer="remo", reason=" ", now=NOW)
    with unit_of_work(world.engine) as db:
        review.exempt_reviewer(
            db, by=cora, batch="next", reviewer="remo", reason="Reviewed the pilot.", now=NOW
        )
    assert assign_next(world).total == 10
    with unit_of_work(world.engine) as db, pytest.raises(Refused, match="may review batch next already"):
        review.exempt_reviewer(db, by=cora, batch="next", reviewer="remo", reason="Again", now=NOW)
    with read_only_session(world.engine) as db:
        entry = db.execute(select(AuditRow).where(AuditRow.what == "exempt from practice")).scalar_one()
        requirement = review.load_requirement(db, by=cora, batch="next")
    assert (entry.why, entry.person_name) == ("Reviewed the pilot.", "cora")
    assert [(person.name, exemption.reason) for person, exemption in requirement.exemptions] == [
        ("remo", "Reviewed the pilot.")
    ]


def test_reviewer_sees_only_own_practice(world):
    practice = create_practice(world)
    assign_practice(world)
    with read_only_session(world.engine) as db:
        assert review.load_own_practice(db, person=world.people["ruth"], batch_id=practice.id) is None
        with pytest.raises(NotFound):
            review.load_page(
                db, person=world.people["ruth"], batch_id=practice.id,
                question=load_faulty(world, practice.id)[0], now=NOW,
            )  # fmt: skip
