"""Selects 3 open, 2 closed, 3 single and 3 multiple choice questions of an exam, as GEMeX has them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from domain.vocabulary import AnswerFormat, Task
from generation.templates.drafts import Draft

#: Questions per exam (GEMeX, section 3.2).
PER_EXAM = {
    AnswerFormat.OPEN: 3,
    AnswerFormat.CLOSED: 2,
    AnswerFormat.SINGLE: 3,
    AnswerFormat.MULTIPLE: 3,
}


def select_drafts(drafts: Sequence[Draft], *, seed: str) -> list[Draft]:
    """Select up to ``PER_EXAM`` drafts of each format.

    Each step takes the draft whose task was used least, then whose findings were used least; the rest is
    random. No stem occurs twice, and no two questions of one format are about the same findings. The two
    closed questions have different answers if possible.

    Args:
        drafts: all drafts of one exam.
        seed: the seed; the same drafts and seed give the same selection.
    """
    rng = random.Random(seed)  # noqa: S311 - seeded on purpose, nothing secret
    shuffled = list(drafts)
    rng.shuffle(shuffled)
    tasks: Counter[Task] = Counter()
    findings: Counter[str] = Counter()
    stems: set[str] = set()
    asked: set[tuple[AnswerFormat, frozenset[str]]] = set()
    answers: Counter[str] = Counter()
    selected = []
    for format_, count in PER_EXAM.items():
        for _ in range(count):
            candidates = [
                draft
                for draft in shuffled
                if draft.format is format_
                and draft.stem not in stems
                and (format_, frozenset(draft.findings)) not in asked
            ]
            if not candidates:
                break
            draft = min(
                candidates,
                key=lambda candidate: (
                    answers[str(candidate.answer)] if candidate.format is AnswerFormat.CLOSED else 0,
                    tasks[candidate.task],
                    sum(findings[name] for name in candidate.findings) / len(candidate.findings),
                ),
            )
            stems.add(draft.stem)
            asked.add((format_, frozenset(draft.findings)))
            tasks[draft.task] += 1
            findings.update(draft.findings)
            if draft.format is AnswerFormat.CLOSED:
                answers[str(draft.answer)] += 1
            selected.append(draft)
    return selected
