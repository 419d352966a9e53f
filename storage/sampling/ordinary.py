"""What tells ordinary questions and datasets from hidden ones; every count and every estimate asks it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, exists

from storage.rows import DatasetRow, HiddenQuestionRow, HiddenSetRow


def ordinary_question(number: Any) -> ColumnElement[bool]:  # noqa: ANN401 - a column with question numbers
    """Whether the question is none that was hidden from a reviewer; removed ones stay hidden too."""
    return ~exists().where(HiddenQuestionRow.question_id == number)


def ordinary_dataset() -> ColumnElement[bool]:
    """Whether the dataset holds what was imported, not a batch's hidden questions."""
    return ~exists().where(HiddenSetRow.dataset_id == DatasetRow.id)
