"""Writes the demo's questions: drafts, a varied selection of them, tiers and ids."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from demo.drafts import Draft, DraftWriter
from demo.facts import ExamFacts
from demo.questions_differential import draft_differential
from demo.questions_geometric import draft_geometric
from demo.questions_location import draft_location
from demo.questions_negation import draft_negation
from demo.questions_presence import draft_presence
from domain.questions import Question, Source
from domain.vocabulary import AnswerFormat, Difficulty, Task

GENERATOR, VERSION = "phantom templates", "1"
PROMPTS = ("p1", "p2", "p3")

_DRAFT_GENERATORS: dict[Task, Callable[[DraftWriter], Iterator[Draft]]] = {
    Task.PRESENCE: draft_presence,
    Task.LOCATION: draft_location,
    Task.NEGATION: draft_negation,
    Task.DIFFERENTIAL: draft_differential,
    Task.GEOMETRIC: draft_geometric,
}
#: Maximum number of questions per task on one exam.
_MAX_PER_TASK = {
    Task.PRESENCE: 11,
    Task.NEGATION: 10,
    Task.LOCATION: 9,
    Task.DIFFERENTIAL: 8,
    Task.GEOMETRIC: 4,
}
#: Maximum number of questions on an exam that has another exam's report. All of these are errors.
_MAX_WITH_WRONG_REPORT = 9
#: Names of the tasks in ReXVQA (its Table 1).
CONTENT_TYPES = {
    Task.PRESENCE: "Presence Assessment",
    Task.LOCATION: "Location & Distribution",
    Task.NEGATION: "Negation Assessment",
    Task.DIFFERENTIAL: "Differential Diagnosis",
    Task.GEOMETRIC: "Geometric Information",
}
_TASK_WEIGHT = {
    Task.PRESENCE: 0.0,
    Task.NEGATION: 0.3,
    Task.LOCATION: 0.25,
    Task.DIFFERENTIAL: 0.75,
    Task.GEOMETRIC: 0.6,
}
_FORMAT_WEIGHT = {
    AnswerFormat.CLOSED: 0.0,
    AnswerFormat.SINGLE: 0.2,
    AnswerFormat.OPEN: 0.45,
    AnswerFormat.MULTIPLE: 0.55,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenQuestion:
    """A question and the facts from which it was written."""

    question: Question
    facts: ExamFacts


def write_questions(exams: Iterable[ExamFacts], *, seed: int) -> list[WrittenQuestion]:
    """Write the questions of all exams.

    Ids are numbered within each exam, so a change to one exam does not change the questions of another.
    """
    written_questions = []
    for facts in exams:
        limit = _MAX_WITH_WRONG_REPORT if facts.case.report_from_exam else None
        drafts = _select_drafts(facts, seed=seed)[:limit]
        for number, draft in enumerate(drafts, start=1):
            question_id = f"{facts.exam_id}-q{number:02d}"
            written_questions.append(
                WrittenQuestion(question=_draft_to_question(draft, question_id, seed=seed), facts=facts)
            )
    return written_questions


def _select_drafts(facts: ExamFacts, *, seed: int) -> list[Draft]:
    """Select up to the maximum of each task, alternating the answer formats. No stem occurs twice."""
    stems: set[str] = set()
    chosen: list[Draft] = []
    for task, writer in _DRAFT_GENERATORS.items():
        rng = random.Random(f"{seed}/{facts.exam_id}/{task}")
        drafts = list(writer(DraftWriter(facts=facts, task=task, random=rng)))
        rng.shuffle(drafts)
        queues: dict[AnswerFormat, list[Draft]] = defaultdict(list)
        for draft in drafts:
            queues[draft.format].append(draft)
        counts: Counter[Task] = Counter()
        while any(queues.values()) and counts[task] < _MAX_PER_TASK[task]:
            for format_ in AnswerFormat:
                if not queues[format_] or counts[task] >= _MAX_PER_TASK[task]:
                    continue
                draft = queues[format_].pop()
                if draft.stem not in stems:
                    stems.add(draft.stem)
                    chosen.append(draft)
                    counts[task] += 1
    random.Random(f"{seed}/{facts.exam_id}/order").shuffle(chosen)
    return chosen


def _draft_to_question(draft: Draft, question_id: str, *, seed: int) -> Question:
    rng = random.Random(f"{seed}/{question_id}")
    return Question(
        id=question_id,
        exam_id=draft.exam_id,
        format=draft.format,
        stem=draft.stem,
        options=draft.options,
        answer=draft.answer,
        explanation=draft.explanation,
        boxes=draft.boxes,
        task=draft.task,
        content_type=CONTENT_TYPES[draft.task],
        category=draft.category,
        subcategory=draft.subcategory,
        difficulty=_estimate_tier(draft, rng.uniform(-0.25, 0.25)),
        source=Source(generator=GENERATOR, version=VERSION, prompt_version=rng.choice(PROMPTS)),
    )


def _estimate_tier(draft: Draft, noise: float) -> Difficulty:
    """Return the generator's estimate of the tier from task, format and conspicuity, with noise."""
    score = _TASK_WEIGHT[draft.task] + _FORMAT_WEIGHT[draft.format] + 1.4 * (1 - draft.conspicuity) + noise
    if score < 0.72:
        return Difficulty.EASY
    return Difficulty.MEDIUM if score < 1.25 else Difficulty.HARD
