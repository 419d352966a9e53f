"""SQL conditions that exclude hidden questions and their datasets. All counts and estimates use them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, exists

from storage.rows.datasets import DatasetRow
from storage.rows.hidden import HiddenQuestionRow, HiddenSetRow


def exclude_hidden(question_id: Any) -> ColumnElement[bool]:  # noqa: ANN401 - a column with question ids
    """Return the condition that the question is not hidden. Removed hidden questions remain excluded."""
    return ~exists().where(HiddenQuestionRow.question_id == question_id)


def exclude_hidden_datasets() -> ColumnElement[bool]:
    """Return the condition that the dataset has imported questions, not the hidden questions of a batch."""
    return ~exists().where(HiddenSetRow.dataset_id == DatasetRow.id)
