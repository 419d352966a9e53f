"""Drafts of questions: not yet selected, and without id and tier."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from demo.facts import ExamFacts
from domain.boxes import LabelledBox
from domain.questions import Answer
from domain.vocabulary import AnswerFormat, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A draft of a question. ``conspicuity`` is that of its finding, 0 (hard to see) to 1."""

    exam_id: str
    task: Task
    format: AnswerFormat
    stem: str
    answer: Answer
    explanation: str
    options: tuple[str, ...] = ()
    boxes: tuple[LabelledBox, ...] = ()
    category: str | None
    subcategory: str | None
    conspicuity: float = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftWriter:
    """Writes the drafts of one exam and one task, and fills in the values that they share."""

    facts: ExamFacts
    task: Task
    random: random.Random

    def closed(self, stem: str, *, yes: bool, explanation: str, about: DraftSubject) -> Draft:
        """A closed question: its answer is yes or no."""
        return self._draft(
            AnswerFormat.CLOSED,
            stem=stem,
            answer="yes" if yes else "no",
            explanation=explanation,
            about=about,
        )

    def open(self, stem: str, answer: str, *, explanation: str, about: DraftSubject) -> Draft:
        """An open question: its answer is a few words."""
        return self._draft(AnswerFormat.OPEN, stem=stem, answer=answer, explanation=explanation, about=about)

    def single(self, stem: str, right: str, wrong: Sequence[str], *, explanation: str, about: DraftSubject) -> Draft:
        """Four options in random order, one of them right."""
        options = [right, *self.random.sample(list(wrong), 3)]
        self.random.shuffle(options)
        answer = (options.index(right),)
        return self._draft(
            AnswerFormat.SINGLE,
            stem=stem,
            answer=answer,
            explanation=explanation,
            about=about,
            options=tuple(options),
        )

    def multiple(
        self, stem: str, right: Sequence[str], wrong: Sequence[str], *, explanation: str, about: DraftSubject
    ) -> Draft:
        """Four options in random order; the right ones, at most three, are drawn from ``right``."""
        chosen = self.random.sample(list(right), min(len(right), 3))
        options = chosen + self.random.sample(list(wrong), 4 - len(chosen))
        self.random.shuffle(options)
        answer = tuple(sorted(options.index(option) for option in chosen))
        return self._draft(
            AnswerFormat.MULTIPLE,
            stem=stem,
            answer=answer,
            explanation=explanation,
            about=about,
            options=tuple(options),
        )

    def _draft(
        self,
        format_: AnswerFormat,
        *,
        stem: str,
        answer: Answer,
        explanation: str,
        about: DraftSubject,
        options: tuple[str, ...] = (),
    ) -> Draft:
        return Draft(
            exam_id=self.facts.exam_id,
            task=self.task,
            format=format_,
            stem=stem,
            answer=answer,
            explanation=explanation,
            options=options,
            boxes=about.boxes,
            category=about.category,
            subcategory=about.subcategory,
            conspicuity=about.conspicuity,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftSubject:
    """The subject of a draft: its category and subcategory, its boxes, its conspicuity."""

    category: str
    subcategory: str
    boxes: tuple[LabelledBox, ...] = ()
    conspicuity: float = 0.8
