"""What is compared of questions in the search for near-duplicates."""

from __future__ import annotations

from dataclasses import dataclass

from domain.questions import Answer
from domain.vocabulary import AnswerFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedQuestion:
    """What is compared of a question.

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
