"""Errors planted in the demo's questions, several of each kind, each known by construction.

A question with an error replaces a correct one and keeps its id, so that only its content reveals the error.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from demo.facts import Facts
from demo.planted_slips import SLIPS
from demo.planted_whole import WHOLE
from demo.questions import Written
from domain.questions import Question
from domain.verdicts import ErrorKind

#: Number of questions with each kind of error, or fewer if the exams allow fewer.
EACH = 8
#: Maximum number of questions with each of the faults that the structural checks detect.
EACH_FAULT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A question with a planted error, and its corrected version; None if it cannot be corrected."""

    kind: ErrorKind
    question: Question
    mended: Question | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """All questions in order, the planted errors, and the structural faults, both by question id."""

    questions: tuple[Question, ...]
    planted: dict[str, Planted]
    faults: dict[str, str]

    def question(self, question_id: str) -> Question:
        """The question with that id, as published.

        Raises:
            KeyError: no question has that id.
        """
        for question in self.questions:
            if question.id == question_id:
                return question
        raise KeyError(question_id)

    def key(self) -> dict[str, str]:
        """The hidden key: question id -> kind of error, or name of the structural fault."""
        kinds = {question_id: str(each.kind) for question_id, each in self.planted.items()}
        return dict(sorted((kinds | self.faults).items()))


def plant(written: list[Written], *, seed: int) -> QuestionSet:
    """Plant errors in some of the questions. The same questions and seed give the same errors."""
    source = random.Random(f"{seed}/planted")
    planted = _on_strangers(written)
    stems = {(each.question.exam_id, each.question.stem) for each in written}
    for kind, attempt in (*WHOLE.items(), *SLIPS.items()):
        order = [each for each in written if each.question.id not in planted]
        source.shuffle(order)
        found = 0
        for each in order:
            if found == EACH:
                break
            changed = attempt(each.question, each.facts, source)
            if changed is None or changed == each.question:
                continue
            place = (changed.exam_id, changed.stem)
            if changed.stem != each.question.stem:
                if place in stems:
                    continue
                stems.add(place)
            mended = each.question if kind in SLIPS else None
            planted[changed.id] = Planted(kind=kind, question=changed, mended=mended)
            found += 1
    faults = _faults(written, taken=set(planted), source=source)
    questions = tuple(
        planted[each.question.id].question
        if each.question.id in planted
        else faults.get(each.question.id, (each.question, ""))[0]
        for each in written
    )
    return QuestionSet(
        questions=questions, planted=planted, faults={name: fault for name, (_, fault) in faults.items()}
    )


def _on_strangers(written: list[Written]) -> dict[str, Planted]:
    """All questions on exams that have another exam's report."""
    return {
        each.question.id: Planted(kind=ErrorKind.NOT_ONE_EXAM, question=each.question, mended=None)
        for each in written
        if each.facts.case.report_of is not None
    }


def _faults(
    written: list[Written], *, taken: set[str], source: random.Random
) -> dict[str, tuple[Question, str]]:
    found: dict[str, tuple[Question, str]] = {}
    for name, spoil in _FAULTS.items():
        order = [each for each in written if each.question.id not in taken]
        source.shuffle(order)
        spoilt = [(each.question.id, spoil(each.question, each.facts)) for each in order]
        for question_id, question in [(key, each) for key, each in spoilt if each is not None][:EACH_FAULT]:
            found[question_id] = (question, name)
            taken.add(question_id)
    return found


def _short_explanation(question: Question, _facts: Facts) -> Question:
    return replace(question, explanation="As seen.")


def _no_category(question: Question, _facts: Facts) -> Question:
    return replace(question, category=None)


def _no_explanation(question: Question, _facts: Facts) -> Question:
    return replace(question, explanation="")


def _leftover(question: Question, _facts: Facts) -> Question:
    return replace(question, explanation="nan")


def _three_options(question: Question, _facts: Facts) -> Question | None:
    if not question.options or question.answer != (0,):
        return None
    return replace(question, options=question.options[:3])


def _double_option(question: Question, _facts: Facts) -> Question | None:
    if not question.options or question.answer != (0,):
        return None
    return replace(question, options=(*question.options[:3], question.options[2]))


_FAULTS: dict[str, Callable[[Question, Facts], Question | None]] = {
    "check: short explanation": _short_explanation,
    "check: no category": _no_category,
    "check: no explanation": _no_explanation,
    "check: explanation is a missing value": _leftover,
    "check: three options": _three_options,
    "check: an option twice": _double_option,
}
