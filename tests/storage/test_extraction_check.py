"""The check of answer extraction: random samples by rule, marks, and error rates with intervals."""

from __future__ import annotations

import csv
import io

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

import cli
from domain.errors import InvalidValue, NotAllowed, NotFound, StaleRevision
from domain.marks import AnswerMark, ReplyId
from domain.protocols import Protocol
from measures.proportions import wilson
from reader_study import service as studies
from reader_study.report.study_report import StudyReport
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.study_reports import find_result, import_model_answers, list_scored_cases, load_report
from tests.storage.study_worlds import StudyWorld, make_design, make_study_world
from tests.storage.worlds import NOW

pytestmark = pytest.mark.slow

RIGHT, WRONG = AnswerMark.RIGHT, AnswerMark.WRONG


@pytest.fixture
def study_world(workspace_engine, tmp_path) -> StudyWorld:
    """Twelve answers of a model: 8 by the rule letter, 2 by explicit, 1 failed, 1 given without a rule."""
    world = make_study_world(
        workspace_engine, design=make_design(12), protocol=Protocol(bootstrap=0, minimum_cases=4)
    )
    replies = [{"raw": "B"}] * 8 + [{"raw": "The answer is A"}] * 2 + [{"raw": "unclear"}, {"answer": "C"}]
    question_ids = [case.question.id for case in list_scored_cases(world)]
    import_model_answers(world, tmp_path, dict(zip(question_ids, replies, strict=True)))
    return world


def load_check(study_world: StudyWorld, rule: str | None = None, size: int = 50):
    with read_only_session(study_world.engine) as db:
        return studies.load_extraction_check(db, by=study_world.cora, study="first", rule=rule, size=size)


def mark(study_world: StudyWorld, reply, value: AnswerMark | None, name: str = "cora"):
    with unit_of_work(study_world.engine) as db:
        return studies.mark_extraction(
            db, by=study_world.people[name], study="first", reply=reply.id, revision=reply.revision + 1,
            mark=value, now=NOW,
        )  # fmt: skip


def test_each_rule_has_a_random_sample_that_a_larger_one_contains(study_world):
    check = load_check(study_world)
    assert [(rate.rule, rate.replies, rate.marked) for rate in check.rates] == [
        ("explicit", 2, 0), ("letter", 8, 0), ("failed", 1, 0),
    ]  # fmt: skip
    small, large = load_check(study_world, "letter", 3).sample, load_check(study_world, "letter", 6).sample
    assert [reply.id for reply in large[:3]] == [reply.id for reply in small]
    order = [reply.id.question_row_id for reply in load_check(study_world, "letter").sample]
    assert order != sorted(order)
    with pytest.raises(InvalidValue, match="no reply of first was read by the rule 'tag'"):
        load_check(study_world, "tag")


def test_error_rates_count_marked_replies_with_their_interval(study_world):
    for reply, value in zip(load_check(study_world, "letter").sample, [RIGHT] * 4 + [WRONG], strict=False):
        mark(study_world, reply, value)
    [failed] = load_check(study_world, "failed").sample
    mark(study_world, failed, RIGHT)
    rate = find_result(load_check(study_world).rates, rule="letter")
    expected = wilson(1, 5)
    assert (rate.replies, rate.marked, rate.wrong, rate.estimate) == (8, 5, 1, 1 / 5)
    assert (rate.low, rate.high) == pytest.approx((expected.low, expected.high))
    assert find_result(load_check(study_world).rates, rule="explicit").note == "not marked"
    report = load_report(study_world)
    assert find_result(report.tables.extraction, rule="letter") == rate
    assert "read wrongly, by rule: letter 1 of 5 (95% CI 3.6 to 62.4 %); failed 0 of 1" in " ".join(
        report.words
    )
    assert StudyReport.from_json(report.to_json()) == report


def test_mark_is_saved_once_can_be_undone_and_never_replaces_another(study_world):
    reply = load_check(study_world, "letter").sample[0]
    first = mark(study_world, reply, WRONG)
    assert mark(study_world, reply, WRONG) == first
    with pytest.raises(StaleRevision, match="marked meanwhile"):
        mark(study_world, reply, RIGHT)
    mark(study_world, load_check(study_world, "letter").sample[0], None)
    reply_after_undo = load_check(study_world, "letter").sample[0]
    assert (reply_after_undo.mark, reply_after_undo.revision) == (None, 2)
    assert find_result(load_check(study_world).rates, rule="letter").marked == 0
    with (
        pytest.raises(DatabaseError, match="append-only"),
        study_world.engine.begin() as connection,
    ):
        connection.execute(text("DELETE FROM extraction_mark"))


def test_marks_by_a_reviewer_partly_right_marks_and_unknown_replies_are_refused(study_world):
    reply = load_check(study_world, "letter").sample[0]
    with pytest.raises(NotAllowed):
        mark(study_world, reply, RIGHT, "ruth")
    with pytest.raises(InvalidValue, match="right or wrong"):
        mark(study_world, reply, AnswerMark.PARTLY)
    with unit_of_work(study_world.engine) as db, pytest.raises(NotFound, match="no such reply"):
        studies.mark_extraction(
            db, by=study_world.cora, study="first", reply=ReplyId(model_id=9, question_row_id=1), revision=1,
            mark=RIGHT, now=NOW,
        )  # fmt: skip


def test_command_lists_marks_and_prints_rates(study_world, capsys):
    assert cli.main(["study", "extraction", "first", "--rule", "explicit"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["number"], row["reply"], row["mark"]) for row in rows] == [
        ("1", "The answer is A", ""), ("2", "The answer is A", ""),
    ]  # fmt: skip
    assert cli.main(["study", "extraction", "first", "--rule", "explicit", "--mark", "2", "wrong"]) == 0
    assert "Marked reply 2 of the rule explicit as wrong." in capsys.readouterr().out
    assert cli.main(["study", "extraction", "first", "--rule", "explicit", "--mark", "3", "wrong"]) == 1
    assert "number from 1 to 2" in capsys.readouterr().err
    assert cli.main(["study", "extraction", "first"]) == 0
    rates = {row["rule"]: row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert (rates["explicit"]["marked"], rates["explicit"]["wrong"]) == ("1", "1")
