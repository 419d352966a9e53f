"""A batch of exams balanced by the findings in their reports: its questions, and estimates without it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select

from accounts.service import command_line_person
from domain.batches import ExamBalance, SamplingPlan
from domain.errors import Refused
from review.service.sample_data import load_sample_data
from sampling.service import draw_batch, list_batch_questions, preview_draw
from storage.rows.datasets import ExamRow, QuestionRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.import_worlds import NOW, Importer, make_record, to_json_lines

REPORTS = ["The lungs are clear.", "Left pleural effusion.", "Small pneumothorax.", "Possible pneumonia.", ""]
PLAN = SamplingPlan(seed=7, per_1000=1000, balance=ExamBalance(exams=8, healthy_share=0.25))


@pytest.fixture
def importer(engine, tmp_path):
    """Fifty exams with two questions each; every fifth exam has the same kind of report."""
    importer = Importer(engine, tmp_path)
    records = [
        make_record(
            number,
            exam={"id": f"e-{number % 50}", "radiographs": [{"id": "pa", "file": "pa.png"}]},
            report=REPORTS[number % 5] or ...,
        )
        for number in range(100)
    ]
    importer(to_json_lines(*records))
    return importer


def draw(importer, plan=PLAN, name="balanced"):
    with unit_of_work(importer.engine) as db:
        return draw_batch(db, by=command_line_person(), dataset="d", plan=plan, batch_name=name, now=NOW)


def list_drawn_exams(importer, name="balanced"):
    """The exam of each drawn question."""
    with read_only_session(importer.engine) as db:
        keys = [question.key for question in list_batch_questions(db, by=command_line_person(), batch=name)]
        exams = dict(
            db.execute(
                select(QuestionRow.key, ExamRow.key).join(ExamRow, ExamRow.id == QuestionRow.exam_id)
            ).all()
        )
    return [exams[key] for key in keys]


def test_all_questions_of_the_selected_exams_are_drawn(importer):
    result = draw(importer)
    exams = list_drawn_exams(importer)
    report_kinds = sorted(int(exam[2:]) % 5 for exam in set(exams))
    assert (result.added, len(exams), len(set(exams))) == (16, 16, 8)
    assert report_kinds == [0, 0, 1, 1, 1, 2, 2, 2]  # 2 healthy, 3 with an effusion, 3 with a pneumothorax
    assert "2 healthy (25.00 %), pleural effusion 3, pneumothorax 3." in result.notes[0]


def test_a_second_balanced_batch_shares_no_exam_with_the_first(importer):
    draw(importer)
    draw(importer, replace(PLAN, exclude_drawn=True), name="second")
    assert not set(list_drawn_exams(importer)) & set(list_drawn_exams(importer, "second"))


def test_a_balanced_batch_is_drawn_once(importer):
    draw(importer)
    with pytest.raises(Refused, match="is drawn once"):
        draw(importer)


def test_dataset_estimates_from_a_balanced_batch_are_refused(importer):
    draw(importer)
    with read_only_session(importer.engine) as db, pytest.raises(Refused, match="selected by their findings"):
        load_sample_data(db, dataset="d", names=None)


def test_more_exams_than_the_reports_allow_are_refused(importer):
    plan = replace(PLAN, balance=ExamBalance(exams=30, healthy_share=0.5))
    with (
        read_only_session(importer.engine) as db,
        pytest.raises(Refused, match="state 10 healthy"),
    ):
        preview_draw(db, by=command_line_person(), dataset="d", plan=plan)
