"""Drafts of questions, before selection and without id and tier."""

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
    """A draft of a question. ``conspicuity`` describes its finding, from 0 (hard to see) to 1."""

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
    """Writes the drafts of one exam and one task, and adds the values that they share."""

    facts: ExamFacts
    task: Task
    random: random.Random

    def write_closed(self, stem: str, *, yes: bool, explanation: str, subject: DraftSubject) -> Draft:
        """Write a closed question, whose answer is yes or no."""
        return self._build_draft(
            AnswerFormat.CLOSED,
            stem=stem,
            answer="yes" if yes else "no",
            explanation=explanation,
            subject=subject,
        )

    def write_open(self, stem: str, answer: str, *, explanation: str, subject: DraftSubject) -> Draft:
        """Write an open question, whose answer is a few words."""
        return self._build_draft(
            AnswerFormat.OPEN, stem=stem, answer=answer, explanation=explanation, subject=subject
        )

    def write_single(
        self, stem: str, correct: str, distractors: Sequence[str], *, explanation: str, subject: DraftSubject
    ) -> Draft:
        """Write a question with four options in random order, one of them correct."""
        options = [correct, *self.random.sample(list(distractors), 3)]
        self.random.shuffle(options)
        answer = (options.index(correct),)
        return self._build_draft(
            AnswerFormat.SINGLE,
            stem=stem,
            answer=answer,
            explanation=explanation,
            subject=subject,
            options=tuple(options),
        )

    def write_multiple(
        self,
        stem: str,
        correct: Sequence[str],
        distractors: Sequence[str],
        *,
        explanation: str,
        subject: DraftSubject,
    ) -> Draft:
        """Write a question with four options in random order, up to three of them from ``correct``."""
        chosen = self.random.sample(list(correct), min(len(correct), 3))
        options = chosen + self.random.sample(list(distractors), 4 - len(chosen))
        self.random.shuffle(options)
        answer = tuple(sorted(options.index(option) for option in chosen))
        return self._build_draft(
            AnswerFormat.MULTIPLE,
            stem=stem,
            answer=answer,
            explanation=explanation,
            subject=subject,
            options=tuple(options),
        )

    def _build_draft(
        self,
        format_: AnswerFormat,
        *,
        stem: str,
        answer: Answer,
        explanation: str,
        subject: DraftSubject,
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
            boxes=subject.boxes,
            category=subject.category,
            subcategory=subject.subcategory,
            conspicuity=subject.conspicuity,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftSubject:
    """The subject of a draft: category, subcategory, boxes and conspicuity."""

    category: str
    subcategory: str
    boxes: tuple[LabelledBox, ...] = ()
    conspicuity: float = 0.8
