"""ReXVQA's records: a report section may be NaN, as the published files have it; no other field may."""

from __future__ import annotations

import json

import pytest

from domain.errors import InvalidValue
from intake.formats.rexvqa import RexvqaReader

RECORD = {
    "question": "Which finding is present?",
    "options": ["A. Effusion", "B. Nodule", "C. Fracture", "D. None"],
    "correct_answer": "A",
    "correct_answer_explanation": "The left costophrenic angle is blunted.",
    "ImagePath": ["../deid_png/a.png"],
    "StudyInstanceUid": "1.2.3",
    "Indication": "Cough",
    "Findings": "Left effusion.",
    "Impression": "Effusion.",
}


def encode_record(**changes):
    return json.dumps(RECORD | changes).encode()


def test_nan_report_sections_are_unknown():
    question = RexvqaReader("test_vqa_data").read(
        "q1", encode_record(Indication=float("nan"), Findings=float("nan"))
    )
    assert question.exam.indication is None
    assert question.report == "Impression: Effusion."


def test_nan_in_another_field_is_refused():
    with pytest.raises(InvalidValue, match="NaN"):
        RexvqaReader("test_vqa_data").read("q1", encode_record(correct_answer=float("nan")))


def test_nan_quoted_in_a_text_is_kept():
    question_text = 'A file with {"Findings": NaN, "Impression": NaN} is wrong.'
    assert (
        RexvqaReader("test_vqa_data").read("q1", encode_record(question=question_text)).stem == question_text
    )
