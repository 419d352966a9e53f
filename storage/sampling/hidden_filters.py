"""Conditions that exclude hidden questions and their datasets; all counts and estimates use them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, exists

from storage.rows.datasets import DatasetRow
from storage.rows.hidden import HiddenQuestionRow, HiddenSetRow


def exclude_hidden(number: Any) -> ColumnElement[bool]:  # noqa: ANN401 - a column with question numbers
    """Return the condition that the question is not a hidden one. Removed hidden questions remain hidden."""
    return ~exists().where(HiddenQuestionRow.question_id == number)


def exclude_hidden_datasets() -> ColumnElement[bool]:
    """Return the condition that the dataset has imported questions, not a batch's hidden questions."""
    return ~exists().where(HiddenSetRow.dataset_id == DatasetRow.id)
