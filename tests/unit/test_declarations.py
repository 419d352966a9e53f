"""Ratings, yes/no fields and closed lists are declared once; tables, forms and documents agree."""

from pathlib import Path
from typing import get_type_hints

import msgspec
import pytest

from domain.batches import DEFAULT_ANCHORS, FormScope
from domain.ratings import RATING_IDS, RATING_VALUES, RATINGS
from domain.verdicts import FLAG_IDS, FLAGS, Decision, ErrorKind
from domain.vocabulary import AnswerFormat, Difficulty, Task
from records.questions import QUESTION_COLUMNS, QUESTION_FIELDS, REVEALING_FIELDS, QuestionRecord
from records.verdicts import VERDICT_COLUMNS
from release.table import COLUMNS
from review.rules import list_required_ratings
from storage.rows.datasets import QuestionRow
from storage.rows.verdicts import VerdictRow
from web.review.schemas import OpinionBody

GLOSSARY = Path(__file__).resolve().parents[2] / "docs" / "glossary.md"


def test_the_verdict_table_has_a_column_for_each_field():
    assert set(VERDICT_COLUMNS) == set(VerdictRow.model_fields)


def test_the_question_table_has_a_column_for_each_field():
    row_only_fields = {"id", "dataset_id", "exam_id", "import_id", "draw_hash", "record_hash"}
    assert set(QUESTION_COLUMNS) == set(QuestionRow.model_fields) - row_only_fields


def test_a_verdict_request_has_every_rating_and_yes_no_field():
    ratings = get_type_hints(OpinionBody)["ratings"]
    assert tuple(ratings.__struct_fields__) == RATING_IDS
    assert set(FLAG_IDS) < set(OpinionBody.__struct_fields__)


def test_every_rating_has_an_anchor_for_each_value():
    assert {name: len(anchors) for name, anchors in DEFAULT_ANCHORS.items()} == dict.fromkeys(
        RATING_IDS, len(RATING_VALUES)
    )


@pytest.mark.parametrize(
    ("parts", "explained", "required_ratings"),
    [
        (FormScope.ALL, True, RATING_IDS),
        (FormScope.ALL, False, tuple(rating.id for rating in RATINGS if not rating.requires_explanation)),
        (FormScope.IMAGE_ALIGNMENT, True, ("image_alignment",)),
        (FormScope.KEY, True, ()),
    ],
)
def test_a_batch_requires_the_ratings_of_its_form_scope(parts, explained, required_ratings):
    assert list_required_ratings(parts, has_explanation=explained) == required_ratings


@pytest.mark.parametrize("kind", [AnswerFormat, Decision, Difficulty, ErrorKind, Task])
def test_a_choice_is_stored_by_its_id_and_not_its_label(kind):
    for member in kind:
        assert msgspec.json.encode(member) == msgspec.json.encode(member.value)
        assert kind(member.value) is member
        assert member.label


def test_the_release_table_has_a_column_for_each_field_of_a_question():
    assert set(QUESTION_FIELDS) < set(COLUMNS)


def test_a_new_record_field_is_withheld_from_private_questions():
    """Only fields declared as harmless are published, so a field that is added later is withheld."""
    released_fields = {"id", "exam", "format", "stem", "options", "task", "difficulty", "source"}
    assert set(QuestionRecord.__struct_fields__) - REVEALING_FIELDS == released_fields


def test_the_glossary_names_every_rating():
    text = GLOSSARY.read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| Ratings |"))
    assert [rating.label for rating in RATINGS if rating.label.lower() not in row] == []
    assert [flag.label for flag in FLAGS if not flag.label] == []
