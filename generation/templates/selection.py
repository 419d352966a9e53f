"""Selects the questions of an exam: by default 3 open, 2 closed, 3 single and 3 multiple choice, as GEMeX."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from domain.errors import InvalidValue
from domain.vocabulary import AnswerFormat, Task
from generation.templates.drafts import Draft

#: Questions per exam (GEMeX, section 3.2).
PER_EXAM: Mapping[AnswerFormat, int] = MappingProxyType(
    {
        AnswerFormat.OPEN: 3,
        AnswerFormat.CLOSED: 2,
        AnswerFormat.SINGLE: 3,
        AnswerFormat.MULTIPLE: 3,
    }
)
#: The maximum number of questions of one format that can be requested for an exam.
MAX_PER_FORMAT = 30


def check_per_exam(per_exam: Mapping[AnswerFormat, int]) -> None:
    """Check the number of questions of each format per exam.

    Raises:
        InvalidValue: a number is not between 0 and ``MAX_PER_FORMAT``, or all are 0.
    """
    for format_, count in per_exam.items():
        if not 0 <= count <= MAX_PER_FORMAT:
            raise InvalidValue(str(format_), f"must be a number from 0 to {MAX_PER_FORMAT}")
    if not any(per_exam.values()):
        raise InvalidValue("questions per exam", "must be at least 1")


def describe_per_exam(per_exam: Mapping[AnswerFormat, int]) -> str:
    """Describe the numbers, such as "3 free text + 2 yes/no + 3 single choice + 3 multiple choice"."""
    return " + ".join(f"{count} {format_.label}" for format_, count in per_exam.items() if count)


def select_drafts(
    drafts: Sequence[Draft], *, seed: str, per_exam: Mapping[AnswerFormat, int] = PER_EXAM
) -> list[Draft]:
    """Select up to ``per_exam`` drafts of each format.

    Each step takes the draft whose task was used least, then whose findings were used least; ties are
    random. No stem occurs twice, and no two questions of one format are about the same findings. As many
    closed questions are answered by yes as by no, if possible.

    Args:
        drafts: all drafts of one exam.
        seed: the seed; the same drafts and seed give the same selection.
        per_exam: the maximum number of drafts by format.
    """
    rng = random.Random(seed)  # noqa: S311 - seeded on purpose, nothing secret
    shuffled = list(drafts)
    rng.shuffle(shuffled)
    task_counts: Counter[Task] = Counter()
    finding_counts: Counter[str] = Counter()
    stems: set[str] = set()
    asked_findings: set[tuple[AnswerFormat, frozenset[str]]] = set()
    answer_counts: Counter[str] = Counter()
    selected = []
    for format_, count in per_exam.items():
        for _ in range(count):
            candidates = [
                draft
                for draft in shuffled
                if draft.format is format_
                and draft.stem not in stems
                and (format_, frozenset(draft.findings)) not in asked_findings
            ]
            if not candidates:
                break
            draft = min(
                candidates,
                key=lambda candidate: (
                    answer_counts[str(candidate.answer)] if candidate.format is AnswerFormat.CLOSED else 0,
                    task_counts[candidate.task],
                    sum(finding_counts[name] for name in candidate.findings) / len(candidate.findings),
                ),
            )
            stems.add(draft.stem)
            asked_findings.add((format_, frozenset(draft.findings)))
            task_counts[draft.task] += 1
            finding_counts.update(draft.findings)
            if draft.format is AnswerFormat.CLOSED:
                answer_counts[str(draft.answer)] += 1
            selected.append(draft)
    return selected
