"""Compares corrected versions of a question: their keys as text, and their boxes matched one to one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from domain.boxes import LabelledBox
from domain.corrections import apply_correction
from domain.questions import Question
from domain.verdicts import Decision, Verdict
from measures.boxes import Overlap, match_boxes


def apply_verdict(question: Question, verdict: Verdict) -> Question | None:
    """Return the question as corrected by a verdict: None for "reject", the same object for "accept"."""
    if verdict.decision is Decision.REJECT:
        return None
    if verdict.decision is Decision.ACCEPT:
        return question
    return apply_correction(question, verdict.opinion.correction)


def has_same_key(first: Question, second: Question) -> bool:
    """Whether two versions have the same correct answers, compared as text."""
    return first is second or normalize_key(first) == normalize_key(second)


def normalize_key(question: Question) -> frozenset[object]:
    """Return all correct answers: each is the set of the texts of its options, or the text of the answer."""
    answers = (question.answer, *question.also_right)
    return frozenset(
        answer.strip().casefold() if isinstance(answer, str)
        else frozenset(question.options[index].strip().casefold() for index in answer)
        for answer in answers
    )  # fmt: skip


def count_choices(question: Question) -> int:
    """Return the number of possible answers; 0 for free text and for questions with multiple options."""
    return 0 if question.format.allows_multiple else len(question.format.fixed_answers or question.options)


def compute_box_overlap(
    first_boxes: Sequence[LabelledBox], second_boxes: Sequence[LabelledBox], *, by_label: bool = True
) -> Overlap:
    """Match the boxes of two versions one to one.

    Args:
        first_boxes: the boxes of one version.
        second_boxes: the boxes of the other version.
        by_label: whether only boxes with the same label match. Boxes on different radiographs never match.
    """
    if first_boxes == second_boxes:  # a fast path: boxes are rarely changed
        return _build_perfect_overlap(len(first_boxes))
    first_by_kind, second_by_kind = (
        _group_by_kind(first_boxes, by_label=by_label),
        _group_by_kind(second_boxes, by_label=by_label),
    )
    pairs: list[tuple[int, int, float]] = []
    for kind in sorted({*first_by_kind, *second_by_kind}):
        first_indices, second_indices = first_by_kind.get(kind, []), second_by_kind.get(kind, [])
        matches = match_boxes(
            [first_boxes[index].box.as_tuple() for index in first_indices],
            [second_boxes[index].box.as_tuple() for index in second_indices],
        )
        pairs += [
            (first_indices[first], second_indices[second], overlap)
            for first, second, overlap in matches.pairs
        ]
    total_overlap = sum(overlap for _, _, overlap in pairs)
    larger_count = max(len(first_boxes), len(second_boxes))
    return Overlap(
        truths=len(first_boxes),
        predictions=len(second_boxes),
        pairs=tuple(sorted(pairs)),
        score=total_overlap / larger_count if larger_count else None,
        per_truth=total_overlap / len(first_boxes) if first_boxes else None,
        per_match=total_overlap / len(pairs) if pairs else None,
    )


@cache
def _build_perfect_overlap(n: int) -> Overlap:
    full_score = 1.0 if n else None
    return Overlap(
        truths=n, predictions=n, pairs=tuple((index, index, 1.0) for index in range(n)),
        score=full_score, per_truth=full_score, per_match=full_score,
    )  # fmt: skip


def _group_by_kind(boxes: Sequence[LabelledBox], *, by_label: bool) -> dict[tuple[str, str], list[int]]:
    indices_by_kind: dict[tuple[str, str], list[int]] = {}
    for index, labelled_box in enumerate(boxes):
        label = labelled_box.label.strip().casefold() if by_label else ""
        indices_by_kind.setdefault((labelled_box.radiograph, label), []).append(index)
    return indices_by_kind
