"""Open answers of a study: drawn by format, marked blind and once, and counted in the report."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score
from sqlalchemy import Engine, text
from sqlalchemy.exc import DatabaseError

import cli
from accounts.service.audit_trail import verify_audit
from domain.errors import NotAllowed, NotFound, Refused, StaleRevision
from domain.marks import AnswerMark, MarkerRole, identify_answer
from domain.protocols import (
    MissingAnswers,
    OpenAnswerRule,
    PartlyRightRule,
    Protocol,
    protocol_from_plain,
    protocol_to_plain,
)
from domain.vocabulary import AnswerFormat
from reader_study import service as studies
from reader_study.marking_sheet import MarkingSheet
from reader_study.report.html import render_html
from reader_study.report.study_report import StudyReport
from storage.reader_study.marks import list_latest_marks
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.study_reports import find_result, import_model_answers, list_scored_cases, load_report
from tests.storage.study_worlds import (
    SOURCE,
    StudyWorld,
    answer_case,
    make_design,
    make_study_world,
    open_sheet,
)
from tests.storage.worlds import NOW

pytestmark = pytest.mark.slow

RIGHT, PARTLY, WRONG = AnswerMark.RIGHT, AnswerMark.PARTLY, AnswerMark.WRONG
FIRST, SECOND = MarkerRole.FIRST, MarkerRole.SECOND
OPEN = (AnswerFormat.OPEN,)
PROTOCOL = Protocol(bootstrap=0, minimum_cases=4, models=("m",))


def make_open_world(engine: Engine, *, cases: int = 4, **protocol_changes: Any) -> StudyWorld:
    """A study of open cases with the key "Effusion", and ruth as its first marker."""
    study_world = make_study_world(
        engine,
        design=make_design(cases, formats=OPEN),
        protocol=replace(PROTOCOL, **protocol_changes),
        open_questions=12,
    )
    assign(study_world, "ruth")
    return study_world


@pytest.fixture
def study_world(sqlite_engine: Engine) -> StudyWorld:
    return make_open_world(sqlite_engine)


def assign(study_world: StudyWorld, name: str | None, role: MarkerRole = FIRST):
    with unit_of_work(study_world.engine) as db:
        return studies.assign_marker(db, by=study_world.cora, study="first", role=role, to=name, now=NOW)


def read_texts(study_world: StudyWorld, name: str, texts: list[str]) -> None:
    """Answer the reader's cases with these texts, in the order of the case numbers."""
    text_by_case = dict(
        zip([case.blind_case.id for case in list_scored_cases(study_world)], texts, strict=True)
    )
    for _ in texts:
        sheet = open_sheet(study_world, name)
        answer_case(study_world, name, answer=text_by_case[sheet.case.id], position=sheet.slot.position)


def import_model_texts(study_world: StudyWorld, tmp_path, texts: list[str]) -> None:
    keys = [case.question.id for case in list_scored_cases(study_world)]
    import_model_answers(
        study_world, tmp_path, {key: {"raw": reply} for key, reply in zip(keys, texts, strict=True)}
    )


def open_next(study_world: StudyWorld, name: str = "ruth", answer=None):
    with read_only_session(study_world.engine) as db:
        return studies.load_marking_sheet(
            db, person=study_world.people[name], study_id=study_world.study.id, answer=answer
        )


def load_image(study_world: StudyWorld, name: str, exam_row_id: int):
    with read_only_session(study_world.engine) as db:
        return studies.load_marking_image(
            db, person=study_world.people[name], exam_row_id=exam_row_id, radiograph_key="pa"
        )


def test_a_marker_sees_the_images_of_the_open_cases_and_of_no_other_exam(study_world):
    read_texts(study_world, "rea", ["fluid", "nodule", "air", "mass"])
    sheet = open_next(study_world)
    assert [radiograph.id for radiograph in sheet.radiographs] == ["pa", "lateral"]
    cases = {case.blind_case.exam_row_id for case in list_scored_cases(study_world)}
    assert sheet.exam_row_id in cases
    other_exams = set(range(1, 7)) - cases
    assert other_exams
    for exam_row_id in range(1, 8):
        if exam_row_id in cases:
            assert load_image(study_world, "ruth", exam_row_id).sha256
        else:
            with pytest.raises(NotAllowed, match="marks no answers"):
                load_image(study_world, "ruth", exam_row_id)


@pytest.mark.parametrize("name", ["remo", "rea", "cora", "ada"])
def test_people_who_are_not_markers_and_a_former_marker_get_no_image(study_world, name):
    exam_row_id = list_scored_cases(study_world)[0].blind_case.exam_row_id
    with pytest.raises(NotAllowed):
        load_image(study_world, name, exam_row_id)
    assign(study_world, None)
    with pytest.raises(NotAllowed):
        load_image(study_world, "ruth", exam_row_id)


def mark(study_world: StudyWorld, sheet, value: AnswerMark | None, name: str = "ruth", seconds: int = 0):
    with unit_of_work(study_world.engine) as db:
        return studies.mark_answer(
            db,
            person=study_world.people[name],
            study_id=study_world.study.id,
            answer=sheet.answer.id,
            revision=sheet.revision + 1,
            mark=value,
            now=NOW + timedelta(seconds=seconds),
        )


def mark_all(study_world: StudyWorld, marks: dict[str, AnswerMark], name: str = "ruth") -> list[str]:
    """Mark each answer whose text is in ``marks``; return the texts in the order in which they were shown."""
    shown: list[str] = []
    sheet = open_next(study_world, name)
    while isinstance(sheet, MarkingSheet) and len(shown) < sheet.task.total:
        shown.append(sheet.answer.text)
        if sheet.answer.text in marks:
            mark(study_world, sheet, marks[sheet.answer.text], name, seconds=len(shown))
        if sheet.next_unmarked is None:
            break
        sheet = open_next(study_world, name, sheet.next_unmarked.id)
    return shown


def test_only_the_chosen_formats_are_drawn(sqlite_engine):
    study_world = make_study_world(
        sqlite_engine, design=make_design(20, formats=OPEN), open_questions=5, readers=()
    )
    assert {case.question.format for case in list_scored_cases(study_world)} == set(OPEN)
    assert len(list_scored_cases(study_world)) == 5
    assert study_world.study.design.formats == OPEN
    with read_only_session(sqlite_engine) as db:
        available = studies.count_available_cases(db, by=study_world.cora, source=SOURCE, formats=OPEN)
    assert available.questions == 5
    with unit_of_work(sqlite_engine) as db, pytest.raises(Refused, match="answer format multiple"):
        studies.create_study(
            db, by=study_world.cora, name="other", source=SOURCE,
            design=make_design(4, formats=(AnswerFormat.MULTIPLE,)), protocol=Protocol(), now=NOW,
        )  # fmt: skip


def test_equal_answers_of_readers_and_models_are_shown_once_and_blind(study_world, tmp_path):
    read_texts(study_world, "rea", ["Effusion", " pleural  FLUID", "nodule", "nodule"])
    read_texts(study_world, "rob", ["effusion ", "Pleural fluid", "mass", "nodule"])
    import_model_texts(study_world, tmp_path, ["nothing", "pleural fluid", "nodule", "EFFUSION"])
    file = tmp_path / "other.jsonl"
    file.write_text('{"question_id": "Q24", "raw": "of a model that is not in the study"}')
    with unit_of_work(study_world.engine) as db:
        studies.import_predictions(db, by=study_world.cora, path=file, model="other", dataset="demo", now=NOW)
    shown = mark_all(study_world, {})
    # "Effusion" equals the key in every spelling; "pleural fluid" of three raters is one answer.
    assert sorted(shown) == sorted(["nothing", "Pleural fluid", "mass", "nodule", "nodule"])
    sheet = open_next(study_world)
    for name in ("rea", "rob", "Rea", "Rob", "other", "reader", "model"):
        assert f"'{name}" not in repr(sheet)


def test_unmarked_answers_are_counted_separately_and_never_as_wrong(study_world):
    read_texts(study_world, "rea", ["Effusion", "fluid", "nodule", "mass"])
    read_texts(study_world, "rob", ["fluid", "fluid", "fluid", "fluid"])
    mark_all(study_world, {"nodule": WRONG})
    report = load_report(study_world)
    rea, rob = (find_result(report.tables.open_answers, rater=name) for name in ("rea", "rob"))
    assert (rea.n, rea.equal_to_key, rea.wrong, rea.not_marked) == (2, 1, 1, 2)
    assert rea.estimate == 1 / 2
    assert (rob.n, rob.not_marked, rob.estimate) == (0, 4, None)
    accuracy = find_result(report.tables.accuracy, rater="rea", group="all")
    assert (accuracy.correct, accuracy.n) == (1, 2)
    # Distinct answers: fluid in 4 cases (in case 2 of both readers), nodule, mass; 1 of 6 is marked.
    sentences = " ".join(report.words)
    assert "5 of 6 distinct open answers are not marked, so 6 answers of readers and models" in sentences


@pytest.mark.parametrize(
    ("rule", "estimate", "correct"),
    [
        (PartlyRightRule.WRONG, 2 / 4, 2),
        (PartlyRightRule.HALF, 2.5 / 4, 2),
        (PartlyRightRule.RIGHT, 3 / 4, 3),
    ],
)
def test_partly_right_counts_as_the_protocol_states(sqlite_engine, rule, estimate, correct):
    study_world = make_open_world(sqlite_engine, partly_right=rule)
    read_texts(study_world, "rea", ["Effusion", "fluid", "left fluid", "nodule"])
    mark_all(study_world, {"fluid": RIGHT, "left fluid": PARTLY, "nodule": WRONG})
    report = load_report(study_world)
    counts = find_result(report.tables.open_answers, rater="rea")
    assert (counts.equal_to_key, counts.right, counts.partly, counts.wrong) == (1, 1, 1, 1)
    assert counts.estimate == pytest.approx(estimate)
    assert counts.low < counts.estimate < counts.high
    assert find_result(report.tables.accuracy, rater="rea", group="all").correct == correct


def test_models_are_marked_in_the_same_queue_and_failed_replies_are_wrong(study_world, tmp_path):
    read_texts(study_world, "rea", ["fluid", "fluid", "fluid", "fluid"])
    import_model_texts(study_world, tmp_path, ["FLUID", "", "Effusion", "opacity"])
    shown = mark_all(study_world, {"fluid": RIGHT, "FLUID": RIGHT, "opacity": WRONG})
    assert len(shown) == 5  # fluid in 4 cases (in the first, the model's answer is equal), and opacity
    report = load_report(study_world)
    model = find_result(report.tables.open_answers, rater="m")
    assert (model.equal_to_key, model.right, model.wrong, model.no_answer) == (1, 1, 1, 1)
    assert model.estimate == 2 / 4
    listed = find_result(report.tables.open_answer_marks, answer="opacity")
    assert (listed.first, listed.second, listed.of_readers, listed.of_models) == ("wrong", None, 0, 1)
    assert find_result(report.tables.accuracy, rater="rea", group="all").correct == 4


def test_unmarked_answers_of_a_model_do_not_count_as_missing_answers(sqlite_engine, tmp_path):
    study_world = make_open_world(sqlite_engine, missing_answers=MissingAnswers.WRONG)
    read_texts(study_world, "rea", ["Effusion", "Effusion", "Effusion", "Effusion"])
    import_model_texts(study_world, tmp_path, ["Effusion", "fluid", "mass", "Effusion"])
    mark_all(study_world, {"mass": WRONG})
    report = load_report(study_world)
    accuracy = find_result(report.tables.accuracy, rater="m", group="all")
    assert (accuracy.correct, accuracy.n) == (2, 3)
    assert not [row.note for row in report.tables.mrmc if "without an answer" in row.note]


@pytest.mark.full
def test_answers_marked_right_agree_with_each_other(study_world):
    read_texts(study_world, "rea", ["fluid", "fluid", "fluid", "nodule"])
    read_texts(study_world, "rob", ["a pleural effusion", "Effusion", "mass", "mass"])
    mark_all(study_world, {"fluid": RIGHT, "a pleural effusion": RIGHT, "nodule": WRONG, "mass": WRONG})
    # Both answers are right in cases 1 and 2, and they differ in cases 3 and 4.
    agreement = find_result(load_report(study_world).tables.agreement, a="rea", b="rob", task="all")
    assert (agreement.n, agreement.observed) == (4, 0.5)


def test_agreement_of_markers_equals_that_of_scikit_learn(sqlite_engine):
    study_world = make_open_world(sqlite_engine, cases=12)
    assign(study_world, "remo", SECOND)
    read_texts(study_world, "rea", [f"a{number}" for number in range(12)])
    first = [RIGHT, RIGHT, RIGHT, PARTLY, PARTLY, WRONG, WRONG, WRONG, RIGHT, PARTLY, WRONG, RIGHT]
    second = [
        RIGHT,
        RIGHT,
        PARTLY,
        PARTLY,
        WRONG,
        WRONG,
        WRONG,
        RIGHT,
        RIGHT,
        PARTLY,
        WRONG,
    ]  # the second marker did not mark the last answer
    mark_all(study_world, {f"a{number}": value for number, value in enumerate(first)})
    mark_all(study_world, {f"a{number}": value for number, value in enumerate(second)}, "remo")
    report = load_report(study_world)
    codes = [[list(AnswerMark).index(value) for value in marks] for marks in (first[:11], second)]
    for weights, name in ((None, "none"), ("linear", "linear")):
        agreement = find_result(report.tables.marker_agreement, weights=name)
        assert agreement.kappa == pytest.approx(cohen_kappa_score(*codes, weights=weights))
        assert (agreement.first_marked, agreement.second_marked, agreement.n) == (12, 11, 11)
        assert agreement.same == sum(a == b for a, b in zip(*codes, strict=True))
        assert agreement.low < agreement.kappa < agreement.high
    assert "The two markers gave the same mark to 8 of 11 answers" in " ".join(report.words)
    # The second marker's marks count in no score.
    assert find_result(report.tables.open_answers, rater="rea").right == 5


def test_second_marker_does_not_see_the_first_marks(study_world):
    assign(study_world, "remo", SECOND)
    read_texts(study_world, "rea", ["fluid", "fluid", "fluid", "fluid"])
    mark_all(study_world, {"fluid": RIGHT})
    sheet = open_next(study_world, "remo")
    assert (sheet.task.done, sheet.task.total, sheet.mark, sheet.revision) == (0, 4, None, 0)


def test_an_answer_whose_mark_is_undone_is_unmarked_again(study_world):
    read_texts(study_world, "rea", ["fluid", "fluid", "fluid", "fluid"])
    sheet = open_next(study_world)
    mark(study_world, sheet, WRONG)
    after = open_next(study_world)
    assert (after.task.done, after.task.last.answer) == (1, sheet.answer.id)
    mark(study_world, open_next(study_world, answer=sheet.answer.id), None)
    again = open_next(study_world)
    assert (again.answer.id, again.mark, again.revision, again.task.last) == (sheet.answer.id, None, 2, None)
    with pytest.raises(Refused, match="No open answer is marked yet"):
        load_report(study_world)


def test_a_mark_is_saved_once_and_never_replaces_a_mark_of_another_tab(study_world):
    read_texts(study_world, "rea", ["fluid", "fluid", "fluid", "fluid"])
    sheet = open_next(study_world)
    first = mark(study_world, sheet, RIGHT)
    assert mark(study_world, sheet, RIGHT, seconds=1) == first  # the second press of a key
    with pytest.raises(StaleRevision, match="another tab"):
        mark(study_world, sheet, WRONG)
    with read_only_session(study_world.engine) as db:
        [saved] = list_latest_marks(db, study_id=study_world.study.id)
    assert (saved.mark, saved.revision) == (RIGHT, 1)


def test_only_permitted_people_are_assigned_as_markers_and_only_markers_mark(study_world):
    for name, message in (
        ("rea", "may not mark"), ("cora", "may not mark"), ("rolf", "may not mark"), ("nobody", "nobody")
    ):  # fmt: skip
        with pytest.raises((Refused, NotFound), match=message):
            assign(study_world, name, SECOND)
    with pytest.raises(Refused, match="ruth is the first marker"):
        assign(study_world, "ruth", SECOND)
    read_texts(study_world, "rea", ["fluid", "fluid", "fluid", "fluid"])
    sheet = open_next(study_world)
    with pytest.raises(NotFound, match="does not mark answers"):
        mark(study_world, sheet, RIGHT, "remo")
    with pytest.raises(NotAllowed):
        mark(study_world, sheet, RIGHT, "rea")
    unknown_sheet = replace(
        sheet, answer=replace(sheet.answer, id=identify_answer(sheet.answer.id.case_id, "x"))
    )
    with pytest.raises(NotFound, match="no longer has this answer"):
        mark(study_world, unknown_sheet, RIGHT)


@pytest.mark.full
def test_a_reader_cannot_be_a_marker_of_the_same_study_and_vice_versa(sqlite_engine):
    study_world = make_open_world(sqlite_engine)
    with sqlite_engine.begin() as connection:
        for name, role in (("ruth", "reader"), ("rea", "reviewer")):
            person_id = study_world.people[name].id
            connection.execute(
                text("INSERT INTO person_role (person_id, role) VALUES (:id, :role)"),
                {"id": person_id, "role": role},
            )
    with pytest.raises(Refused, match="rea is a reader of this study"):
        assign(study_world, "rea", SECOND)
    with unit_of_work(sqlite_engine) as db, pytest.raises(Refused, match="ruth marks the open answers"):
        studies.assign_readers(db, by=study_world.cora, study="first", to=["ruth"], now=NOW)


@pytest.mark.full
def test_a_new_first_marker_continues_with_the_marks_of_the_former_marker(study_world):
    read_texts(study_world, "rea", ["fluid", "fluid", "fluid", "fluid"])
    mark(study_world, open_next(study_world), RIGHT)
    assign(study_world, "remo")
    assert open_next(study_world, "remo").task.done == 1
    with pytest.raises(NotFound):
        open_next(study_world, "ruth")
    assign(study_world, None)
    assert find_result(load_report(study_world).tables.open_answers, rater="rea").right == 1


@pytest.mark.full
def test_older_protocols_score_by_exact_match(sqlite_engine):
    plain = protocol_to_plain(PROTOCOL)
    for name in ("open_answers", "partly_right"):
        del plain[name]
    old = protocol_from_plain(plain)
    assert (old.open_answers, old.partly_right) == (None, None)
    assert protocol_to_plain(old) == plain  # the hash of a stored protocol stays valid
    study_world = make_open_world(sqlite_engine, open_answers=None, partly_right=None)
    read_texts(study_world, "rea", ["Effusion", "EFFUSION ", "fluid", "nodule"])
    assert open_next(study_world).total == 0
    report = load_report(study_world)
    counts = find_result(report.tables.open_answers, rater="rea")
    assert (counts.equal_to_key, counts.wrong, counts.not_marked) == (2, 2, 0)
    assert "exact match" in " ".join(report.words)


@pytest.mark.full
def test_a_protocol_can_be_amended_to_score_by_exact_match(study_world):
    read_texts(study_world, "rea", ["Effusion", "fluid", "fluid", "fluid"])
    mark_all(study_world, {"fluid": RIGHT})
    assert find_result(load_report(study_world).tables.accuracy, rater="rea", group="all").correct == 4
    with unit_of_work(study_world.engine) as db:
        studies.change_protocol(
            db, by=study_world.cora, study="first", reason="controlled vocabulary",
            protocol=replace(PROTOCOL, open_answers=OpenAnswerRule.EXACT_MATCH), now=NOW,
        )  # fmt: skip
    report = load_report(study_world)
    assert find_result(report.tables.accuracy, rater="rea", group="all").correct == 1
    assert report.tables.open_answer_marks == ()


@pytest.mark.full
def test_a_report_with_marks_is_read_back_unchanged_and_rendered(study_world):
    assign(study_world, "remo", SECOND)
    read_texts(study_world, "rea", ["fluid", "=1+1", "mass", "Effusion"])
    for name in ("ruth", "remo"):
        mark_all(study_world, {"fluid": RIGHT, "mass": WRONG}, name)
    report = load_report(study_world)
    assert StudyReport.from_json(report.to_json()) == report
    page = render_html(report)
    assert "Agreement of the markers" in page
    assert "=1+1" in page


@pytest.mark.full
def test_report_changes_with_a_mark(study_world):
    read_texts(study_world, "rea", ["fluid", "fluid", "fluid", "fluid"])

    def load_digest():
        with read_only_session(study_world.engine) as db:
            return studies.load_report_digest(db, by=study_world.cora, study="first")

    before = load_digest()
    mark(study_world, open_next(study_world), RIGHT)
    assert load_digest() != before


@pytest.mark.full
def test_own_result_does_not_include_answers_without_a_mark(sqlite_engine):
    study_world = make_open_world(sqlite_engine, show_own_result=True)
    read_texts(study_world, "rea", ["Effusion", "fluid", "nodule", "mass"])
    mark_all(study_world, {"fluid": RIGHT, "nodule": WRONG})
    result = open_sheet(study_world, "rea").result
    assert (result.count, result.n) == (2, 3)


@pytest.mark.full
def test_training_case_states_no_result_for_another_wording(sqlite_engine):
    study_world = make_study_world(
        sqlite_engine, design=make_design(2, formats=OPEN, training=2), protocol=PROTOCOL, open_questions=12
    )
    answer_case(study_world, "rea", answer="fluid")
    answer_case(study_world, "rob", answer="effusion")
    assert open_sheet(study_world, "rea", position=1).feedback.correct is None
    assert open_sheet(study_world, "rob", position=1).feedback.correct is True
    assign(study_world, "ruth")
    assert open_next(study_world).total == 0  # nobody marks training cases


def test_marks_are_append_only_and_compared_with_the_audit_trail(study_world):
    read_texts(study_world, "rea", ["fluid", "fluid", "fluid", "fluid"])
    mark(study_world, open_next(study_world), WRONG)
    ada = study_world.people["ada"]
    with read_only_session(study_world.engine) as db:
        assert verify_audit(db, by=ada).faults == ()
    for statement in ("UPDATE answer_mark SET mark = 'right'", "DELETE FROM answer_mark"):
        with pytest.raises(DatabaseError, match="append-only"), study_world.engine.begin() as connection:
            connection.execute(text(statement))
    with study_world.engine.begin() as connection:
        connection.execute(text("DROP TRIGGER answer_mark_no_update"))
        connection.execute(text("UPDATE answer_mark SET mark = 'right'"))
    with read_only_session(study_world.engine) as db:
        faults = verify_audit(db, by=ada).faults
    assert any("mark answer" in fault for fault in faults), faults


@pytest.fixture
def workspace_study(workspace_engine: Engine) -> StudyWorld:
    return make_open_world(workspace_engine)


def test_commands_assign_markers_and_exchange_marks_by_file(workspace_study, capsys, tmp_path):
    read_texts(workspace_study, "rea", ["fluid", "=left, fluid", "Effusion", "nodule"])
    assert cli.main(["study", "markers", "first", "--second", "remo"]) == 0
    assert "second marker: remo, 0 of 3 answers marked" in capsys.readouterr().out
    assert cli.main(["study", "marks", "first", "--blank"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    marks = {"fluid": "right", "'=left, fluid": "Partly", "nodule": ""}
    assert [row["key"] for row in rows] == ["Effusion"] * 3
    file = tmp_path / "marks.csv"
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(row | {"mark": marks[row["answer"]]} for row in rows)
    assert cli.main(["study", "mark", "first", str(file), "--by", "ruth"]) == 0
    assert "Saved 2 new or changed marks; the file has 2 marks." in capsys.readouterr().out
    assert cli.main(["study", "mark", "first", str(file), "--by", "ruth"]) == 0
    assert "Saved 0 new or changed marks" in capsys.readouterr().out
    assert cli.main(["study", "marks", "first"]) == 0
    listed = {row["answer"]: row["first"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert listed == {"fluid": "right", "'=left, fluid": "partly", "nodule": ""}
    assert cli.main(["study", "markers", "first", "--remove", "second"]) == 0
    assert "remo" not in capsys.readouterr().out


@pytest.mark.full
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("question_id,answer\nQ1,fluid\n", "has no column mark"),
        ("question_id,answer,mark\nQ1,fluid,good\n", "line 2: 'good' must be one of right, partly, wrong"),
        ("question_id,answer,mark\nQ99,fluid,right\n", "is not an answer to be marked in first"),
    ],
)
def test_a_file_of_marks_with_an_error_is_refused_with_the_reason(
    workspace_study, capsys, tmp_path, content, reason
):
    file = tmp_path / "marks.csv"
    file.write_text(content)
    assert cli.main(["study", "mark", "first", str(file), "--by", "ruth"]) == 1
    assert reason in capsys.readouterr().err
    with read_only_session(workspace_study.engine) as db:
        assert list_latest_marks(db, study_id=workspace_study.study.id) == ()
