"""Builds questions from what a model wrote, by rules that are the same for all recipes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

import msgspec

from domain.errors import InvalidValue
from domain.questions import Question, Source, normalise_text_answer, option_letter
from generation.generated_questions import GeneratedQuestion
from generation.recipes.stages import Material, RecordOmission, check_numbers
from quality.text_screens import screen_question

_Entry = TypeVar("_Entry")
#: The questions in a reply, by number (None if the model omitted one); a list if an older prompt was used.
QuestionReply: TypeAlias = dict[str, _Entry | None] | list[_Entry]


def list_written_questions(entries: QuestionReply[_Entry]) -> list[_Entry]:
    """Return the questions that the model wrote, in the order of the reply.

    >>> list_written_questions({"1": "first", "2": None, "3": "third"})
    ['first', 'third']
    """
    if isinstance(entries, list):
        return entries
    return [entry for entry in entries.values() if entry is not None]


class Options(msgspec.Struct):
    """The four options of a choice question, by letter. A list could have the wrong length."""

    A: str
    B: str
    C: str
    D: str

    def list_texts(self) -> tuple[str, ...]:
        """Return the options in the order of their letters."""
        return tuple(" ".join(text.split()) for text in msgspec.structs.astuple(self))


class QuestionCollector:
    """Collects the valid questions of an exam and leaves out the others.

    Args:
        material: what the exam's questions were written from.
        recipe: the recipe with its version, such as gemex@1.
        prefix: the letter of the recipe in the ids.
        record_omission: records which questions were left out, and why.
    """

    def __init__(
        self, material: Material, *, recipe: str, prefix: str, record_omission: RecordOmission
    ) -> None:
        self._material, self._prefix, self._record_omission = material, prefix, record_omission
        call = material.calls[-1]
        self._source = Source(generator=call.model, version=recipe, prompt_version=call.prompt)
        self._stems: set[str] = set()
        self.questions: list[GeneratedQuestion] = []

    def add(
        self, *, stem: str, numbers: tuple[int, ...], statement_term: str, build: Callable[[str], Question]
    ) -> None:
        """Add a question under the next id, unless it is invalid or a rule forbids it.

        Args:
            stem: the question as the model wrote it.
            numbers: the numbers of its source statements.
            statement_term: the word for a source statement in messages, such as "phrase".
            build: makes the question from the stem; its id and source are replaced.
        """
        statement_numbers = check_numbers(
            numbers,
            len(self._material.statements),
            kind=f"number of a {statement_term} that the exam does not have",
            text=stem,
            record_omission=self._record_omission,
        )
        if statement_numbers is None:
            return
        try:
            question = build(" ".join(stem.split()))
        except InvalidValue as error:
            self._record_omission(f"invalid {error.field}", f"{error.reason}: {stem}")
            return
        problem = self._find_problem(question)
        if problem is not None:
            self._record_omission(problem, question.stem)
            return
        self._stems.add(normalise_text_answer(question.stem))
        number = len(self.questions) + 1
        self.questions.append(
            GeneratedQuestion(
                question=replace(
                    question, source=self._source, id=f"{self._material.exam.id}-{self._prefix}{number:02d}"
                ),
                provenance=self._material.describe_origin(statement_numbers),
            )
        )

    def _find_problem(self, question: Question) -> str | None:
        if not question.explanation.strip():
            return "no explanation"
        options = [normalise_text_answer(option) for option in question.options]
        if len(set(options)) < len(options):
            return "the same option twice"
        if normalise_text_answer(question.stem) in self._stems:
            return "the same question twice"
        hit = next(screen_question(question), None)
        return f"{hit.screen}" if hit is not None else None


def parse_letters(letters: Sequence[str], count: int) -> tuple[int, ...]:
    """Return the sorted indices of options.

    Args:
        letters: letters such as "B"; case and surrounding spaces are ignored.
        count: the number of options.

    Raises:
        InvalidValue: there is no letter, a letter occurs twice, or there is no option with a letter.

    >>> parse_letters(["c", "A"], 4)
    (0, 2)
    """
    option_letters = [option_letter(index) for index in range(count)]
    given_letters = [letter.strip().upper() for letter in letters]
    if (
        not given_letters
        or len(set(given_letters)) < len(given_letters)
        or not set(given_letters) <= set(option_letters)
    ):
        raise InvalidValue(
            "answer",
            f"expected different letters of {', '.join(option_letters)}, not {', '.join(letters) or 'none'}",
        )
    return tuple(sorted(option_letters.index(name) for name in given_letters))
