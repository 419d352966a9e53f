"""The fields of a question that the search for near-duplicates compares."""

from __future__ import annotations

from dataclasses import dataclass

from domain.questions import Answer
from domain.vocabulary import AnswerFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedQuestion:
    """The compared fields of a question.

    ``number`` and ``exam`` are database ids. ``explanation_length`` is in characters. ``group`` is task and
    category, "" where the question has none.
    """

    number: int
    exam: int
    format: AnswerFormat
    stem: str
    answer: Answer
    options: tuple[str, ...] = ()
    also_right: tuple[tuple[int, ...], ...] = ()
    explanation_length: int = 0
    group: tuple[str, str] = ("", "")

    @property
    def keyed_options(self) -> frozenset[int]:
        """The indices of all options of the key and of alternative keys."""
        if isinstance(self.answer, str):
            return frozenset()
        return frozenset(index for indices in (self.answer, *self.also_right) for index in indices)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationPair:
    """A pair of questions that was drawn for a calibration, and its latest judgement.

    Attributes:
        id: the database id; 0 before it is stored.
        first: database id of the first question.
        second: database id of the second question.
        similarity: the similarity, 0 to 1.
        weight: the number of pairs in the dataset that this pair stands for.
        is_same: whether a person judged them to be the same; None if nobody has, or the judgement was undone.
    """

    id: int = 0
    first: int
    second: int
    similarity: float
    weight: float
    is_same: bool | None = None
