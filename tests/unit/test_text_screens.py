"""Screens of question texts: each reports what GEMeX's rules forbid, and leaves ordinary questions alone."""

from __future__ import annotations

import pytest

from domain.questions import Question
from domain.vocabulary import AnswerFormat
from quality.text_screens import Screen, screen_question


def make_question(stem="What is seen?", answer="Effusion", explanation="The angle is blunted."):
    return Question(
        id="q",
        exam_id="e",
        format=AnswerFormat.OPEN,
        stem=stem,
        answer=answer,
        explanation=explanation,
    )


def screen(**texts):
    return [hit.screen for hit in screen_question(make_question(**texts))]


@pytest.mark.parametrize(
    ("screen_", "field", "text"),
    [
        (Screen.REFERS_TO_TEXT, "stem", "According to the report, what is seen?"),
        (Screen.REFERS_TO_TEXT, "explanation", "The phrases indicate an effusion."),
        (Screen.REFERS_TO_TEXT, "explanation", "The CXR specifies a calcified granuloma."),
        (Screen.REFERS_TO_TEXT, "explanation", "An effusion is mentioned."),
        (Screen.COMPARISON, "stem", "Has the effusion improved?"),
        (Screen.COMPARISON, "explanation", "The opacity is unchanged."),
        (Screen.COMPARISON, "answer", "A new opacity"),
        (Screen.NOTIFICATION, "stem", "Who was notified of the pneumothorax?"),
        (Screen.NOTIFICATION, "explanation", "This was discussed with Dr. Smith."),
        (Screen.VIEW, "stem", "Which view was obtained?"),
        (Screen.VIEW, "answer", "Lateral view"),
        (Screen.OTHER_SCAN, "stem", "What does the CT show?"),
        (Screen.OTHER_SCAN, "answer", "Computed tomography"),
        (Screen.SIZE, "stem", "What is the diameter of the nodule?"),
        (Screen.SIZE, "explanation", "The granuloma is 1.2-cm wide."),
        (Screen.SIZE, "answer", "8 mm"),
    ],
)
def test_forbidden_content_is_reported(screen_, field, text):
    assert screen_ in screen(**{field: text})


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("stem", "Where is the opacity?"),
        ("stem", "What is the size of the heart?"),
        ("stem", "What is the position of the trachea?"),
        ("answer", "Left lateral costophrenic angle"),
        ("explanation", "The heart is wider than half of the thorax on the frontal view."),
        ("explanation", "CT would be needed to see it."),
        ("explanation", "There is increased opacity with air bronchograms."),
    ],
)
def test_ordinary_content_is_not_reported(field, text):
    assert screen(**{field: text}) == []


def test_a_hit_names_field_and_words():
    (hit,) = screen_question(make_question(answer="8 mm"))
    assert (hit.field, hit.words) == ("answer", "8 mm")
