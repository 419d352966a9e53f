"""The bias report: whether patients and images are spread evenly, and what options reveal about the key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from domain.compliance import NOT_STATED, ExaminedQuestion, group_age
from domain.questions import option_letter
from domain.vocabulary import AnswerFormat
from measures.association import measure_association
from measures.clusters import renumber_clusters
from measures.proportions import wilson_by_cluster

#: The properties of the exam, and the properties of the question with which they are compared.
EXAM_PROPERTIES: dict[str, Callable[[ExaminedQuestion], str]] = {
    "age": lambda question: group_age(question.age),
    "sex": lambda question: question.sex or NOT_STATED,
    "view": lambda question: question.view or NOT_STATED,
}
QUESTION_PROPERTIES: dict[str, Callable[[ExaminedQuestion], str]] = {
    "task": lambda question: question.task,
    "answer key": lambda question: _name_key(question),  # noqa: PLW0108 - defined below
    "difficulty": lambda question: question.difficulty,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasLine:
    """Cramér's V of a property of the exam and a property of the question; ``n`` questions state both."""

    exam_property: str
    question_property: str
    n: int
    estimate: float | None
    low: float | None
    high: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionBias:
    """How often the key is the option with a property, and how often it would be by chance.

    ``difference`` is the share minus chance, with a 95 % interval clustered by patient. Only questions with
    one correct option count. For the lengths, only questions with one longest or shortest option count.
    """

    option: str
    n: int
    share: float
    chance: float
    difference: float
    low: float
    high: float


def measure_bias(questions: Sequence[ExaminedQuestion], *, seed: int = 0) -> tuple[BiasLine, ...]:
    """Measure the association of each property of the exam with each property of the question."""
    lines = []
    for exam_name, read_exam in EXAM_PROPERTIES.items():
        for question_name, read_question in QUESTION_PROPERTIES.items():
            rows = [
                (exam_value, question_value, question.patient)
                for question in questions
                if (exam_value := read_exam(question)) != NOT_STATED
                and (question_value := read_question(question))
            ]
            result = measure_association(
                [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows], seed=seed
            )
            lines.append(
                BiasLine(
                    exam_property=exam_name,
                    question_property=question_name,
                    n=result.n,
                    estimate=result.estimate,
                    low=result.low,
                    high=result.high,
                    note=f"no question states the {exam_name}" if not rows else result.note,
                )
            )
    return tuple(lines)


def measure_option_bias(questions: Sequence[ExaminedQuestion]) -> tuple[OptionBias, ...]:
    """Measure how often the key is at each position, and how often it is the longest or shortest option."""
    single_choice = [
        question
        for question in questions
        if question.format is AnswerFormat.SINGLE and len(question.correct) == 1
    ]
    position_count = max((len(question.options) for question in single_choice), default=0)
    rules: dict[str, Callable[[ExaminedQuestion], int | None]] = {
        f"at position {option_letter(position)}": _choose_position(position)
        for position in range(position_count)
    }
    rules |= {
        "the longest": lambda question: _find_extreme(question, largest=True),
        "the shortest": lambda question: _find_extreme(question, largest=False),
    }
    return tuple(line for name, rule in rules.items() for line in _measure_rule(name, single_choice, rule))


def _measure_rule(
    name: str, questions: Sequence[ExaminedQuestion], rule: Callable[[ExaminedQuestion], int | None]
) -> Iterator[OptionBias]:
    choices = [(question, index) for question in questions if (index := rule(question)) is not None]
    if not choices:
        return
    hits = np.array([index in question.correct for question, index in choices], dtype=np.bool_)
    patients, _ = renumber_clusters(np.array([question.patient for question, _ in choices]))
    chance = float(np.mean([1 / len(question.options) for question, _ in choices]))
    share = wilson_by_cluster(hits, patients)
    if share.estimate is None or share.low is None or share.high is None:
        return
    yield OptionBias(
        option=name,
        n=len(choices),
        share=share.estimate,
        chance=chance,
        difference=share.estimate - chance,
        low=share.low - chance,
        high=share.high - chance,
    )


def _choose_position(position: int) -> Callable[[ExaminedQuestion], int | None]:
    return lambda question: position if position < len(question.options) else None


def _find_extreme(question: ExaminedQuestion, *, largest: bool) -> int | None:
    """Return the index of the longest or shortest option; None if several options share that length."""
    lengths = [len(option) for option in question.options]
    extreme = max(lengths) if largest else min(lengths)
    return lengths.index(extreme) if lengths.count(extreme) == 1 else None


def _name_key(question: ExaminedQuestion) -> str:
    """Return the letter of the key, or "yes" or "no"; "" for other formats."""
    if not question.has_one_answer or len(question.correct) != 1:
        return ""
    index = next(iter(question.correct))
    return option_letter(index) if question.format is AnswerFormat.SINGLE else question.candidates[index]
