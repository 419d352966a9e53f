"""SQL conditions that exclude hidden and practice questions. All counts and estimates use them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, and_, exists

from storage.rows.batches import BatchRow
from storage.rows.datasets import DatasetRow
from storage.rows.hidden import HiddenQuestionRow, HiddenSetRow
from storage.rows.practice import PracticeQuestionRow, PracticeSetRow


def exclude_hidden(question_id: Any) -> ColumnElement[bool]:  # noqa: ANN401 - a column with question ids
    """Return the condition that the question is neither hidden nor for practice.

    Removed hidden questions remain excluded.
    """
    return and_(
        ~exists().where(HiddenQuestionRow.question_id == question_id),
        ~exists().where(PracticeQuestionRow.question_id == question_id),
    )


def exclude_hidden_datasets() -> ColumnElement[bool]:
    """Return the condition that the dataset holds neither hidden nor practice questions."""
    return and_(
        ~exists().where(HiddenSetRow.dataset_id == DatasetRow.id),
        ~exists().where(PracticeSetRow.dataset_id == DatasetRow.id),
    )


def exclude_practice_sets() -> ColumnElement[bool]:
    """Return the condition that the batch is not a practice set."""
    return ~exists().where(PracticeSetRow.batch_id == BatchRow.id)
