"""The demo's questions: all drafts that the exams allow, a varied selection of them, tiers and ids."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from demo.drafts import Draft, Pen
from demo.facts import Facts
from demo.questions_differential import differential
from demo.questions_geometric import geometric
from demo.questions_location import location
from demo.questions_negation import negation
from demo.questions_presence import presence
from domain.questions import Question, Source
from domain.vocabulary import AnswerFormat, Difficulty, Task

GENERATOR, VERSION = "phantom templates", "1"
PROMPTS = ("p1", "p2", "p3")

_WRITERS: dict[Task, Callable[[Pen], Iterator[Draft]]] = {
    Task.PRESENCE: presence,
    Task.LOCATION: location,
    Task.NEGATION: negation,
    Task.DIFFERENTIAL: differential,
    Task.GEOMETRIC: geometric,
}
#: Maximum number of questions of one task on one exam.
_AT_MOST = {Task.PRESENCE: 11, Task.NEGATION: 10, Task.LOCATION: 9, Task.DIFFERENTIAL: 8, Task.GEOMETRIC: 4}
#: Maximum number on an exam that has another exam's report. Each of these questions is an error.
_WITH_WRONG_REPORT = 9
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
class Written:
    """A question and the facts from which it was written."""

    question: Question
    facts: Facts


def write_questions(exams: Iterable[Facts], *, seed: int) -> list[Written]:
    """Write the questions of all exams.

    Ids are numbered within each exam, so a change to one exam does not change the questions of another.
    """
    written = []
    for facts in exams:
        limit = _WITH_WRONG_REPORT if facts.case.report_of else None
        drafts = _chosen(facts, seed=seed)[:limit]
        for number, draft in enumerate(drafts, start=1):
            question_id = f"{facts.exam_id}-q{number:02d}"
            written.append(Written(question=_question(draft, question_id, seed=seed), facts=facts))
    return written


def _chosen(facts: Facts, *, seed: int) -> list[Draft]:
    """Select up to the maximum of each task, alternating the answer formats. No stem occurs twice."""
    stems: set[str] = set()
    chosen: list[Draft] = []
    for task, writer in _WRITERS.items():
        source = random.Random(f"{seed}/{facts.exam_id}/{task}")
        drafts = list(writer(Pen(facts=facts, task=task, random=source)))
        source.shuffle(drafts)
        queues: dict[AnswerFormat, list[Draft]] = defaultdict(list)
        for draft in drafts:
            queues[draft.format].append(draft)
        taken: Counter[Task] = Counter()
        while any(queues.values()) and taken[task] < _AT_MOST[task]:
            for format_ in AnswerFormat:
                if not queues[format_] or taken[task] >= _AT_MOST[task]:
                    continue
                draft = queues[format_].pop()
                if draft.stem not in stems:
                    stems.add(draft.stem)
                    chosen.append(draft)
                    taken[task] += 1
    random.Random(f"{seed}/{facts.exam_id}/order").shuffle(chosen)
    return chosen


def _question(draft: Draft, question_id: str, *, seed: int) -> Question:
    source = random.Random(f"{seed}/{question_id}")
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
        difficulty=_tier(draft, source.uniform(-0.25, 0.25)),
        source=Source(generator=GENERATOR, version=VERSION, prompt_version=source.choice(PROMPTS)),
    )


def _tier(draft: Draft, noise: float) -> Difficulty:
    """The generator's estimate of the tier from task, format and conspicuity; it is not always right."""
    score = _TASK_WEIGHT[draft.task] + _FORMAT_WEIGHT[draft.format] + 1.4 * (1 - draft.conspicuity) + noise
    if score < 0.72:
        return Difficulty.EASY
    return Difficulty.MEDIUM if score < 1.25 else Difficulty.HARD
