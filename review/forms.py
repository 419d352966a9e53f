"""Corrected forms of one question compared: their keys as text, and their boxes one to one."""

from __future__ import annotations

from domain.questions import Question
from domain.vocabulary import AnswerFormat
from measures.boxes import Overlap, match


def key_of(question: Question) -> frozenset[object]:
    """All right answers as text: each the set of its options, or the answer in words."""
    answers = (question.answer, *question.also_right)
    return frozenset(
        answer.strip().casefold() if isinstance(answer, str)
        else frozenset(question.options[at].strip().casefold() for at in answer)
        for answer in answers
    )  # fmt: skip


def choices_of(question: Question) -> int:
    """How many answers there are to choose from; 0 where no number can be named."""
    if question.format is AnswerFormat.CLOSED:
        return 2
    return len(question.options) if question.format is AnswerFormat.SINGLE else 0


def overlap_of(one: Question, other: Question) -> Overlap:
    """All boxes of a question, matched one to one within each radiograph and label."""
    kinds = sorted({(each.radiograph, each.label.strip().casefold()) for each in (*one.boxes, *other.boxes)})
    pairs: list[tuple[int, int, float]] = []
    for kind in kinds:
        ours, theirs = ([at for at, each in enumerate(form.boxes)
                         if (each.radiograph, each.label.strip().casefold()) == kind]
                        for form in (one, other))  # fmt: skip
        found = match(
            [one.boxes[at].box.as_tuple() for at in ours], [other.boxes[at].box.as_tuple() for at in theirs]
        )
        pairs += [(ours[first], theirs[second], overlap) for first, second, overlap in found.pairs]
    total = sum(overlap for _, _, overlap in pairs)
    most = max(len(one.boxes), len(other.boxes))
    return Overlap(
        truths=len(one.boxes),
        predictions=len(other.boxes),
        pairs=tuple(sorted(pairs)),
        score=total / most if most else None,
        per_truth=total / len(one.boxes) if one.boxes else None,
        per_match=total / len(pairs) if pairs else None,
    )
