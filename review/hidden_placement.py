"""Chooses positions for hidden questions in a reviewer's queue, and the questions to repeat, by hash."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence

from domain.batches import AssignmentState
from domain.draw_hash import compute_draw_hash
from domain.hidden import HiddenPlan, QueuedQuestion


class QueueGaps:
    """The gaps between open questions of a reviewer's queue. Each gap is used once.

    No question is hidden after the last one, because an additional question at the end would be recognised. A
    gap between two questions of one exam is used only for questions of that exam.
    """

    def __init__(self, queue: Sequence[QueuedQuestion]) -> None:
        self._gaps_by_exam: dict[int, list[int]] = defaultdict(list)
        self._free: set[int] = set()
        self._between_exams: list[int] = []  # gaps between two exams, sorted for binary search
        self._exams = {question.exam_row_id for question in queue}
        open_indices = [
            index for index, question in enumerate(queue) if question.state is AssignmentState.OPEN
        ]
        for index in range(open_indices[0], open_indices[-1]) if open_indices else ():
            if compute_position_between(queue, index) == queue[index].position:
                continue
            this_exam, next_exam = queue[index].exam_row_id, queue[index + 1].exam_row_id
            self._free.add(index)
            for exam in {this_exam, next_exam}:
                self._gaps_by_exam[exam].append(index)
            if this_exam != next_exam:
                self._between_exams.append(index)

    def take_gap(self, *, exam_row_id: int, min_index: int, random_number: int) -> int | None:
        """Take a gap.

        Args:
            exam_row_id: the id of the exam of the question to hide.
            min_index: the minimum index in the queue after which the question may be placed.
            random_number: the number that selects one of the free gaps.

        Returns:
            The index in the queue after which the question is placed; None if there is no free gap.
        """
        same_exam_gaps = [
            gap for gap in self._gaps_by_exam.get(exam_row_id, ()) if gap in self._free and gap >= min_index
        ]
        if min_index == 0 and exam_row_id in self._exams:
            gap = same_exam_gaps[random_number % len(same_exam_gaps)] if same_exam_gaps else None
        else:
            gap = self._find_gap_between_other_exams(same_exam_gaps, min_index, random_number)
        if gap is not None:
            self._free.discard(gap)
            index = bisect_left(self._between_exams, gap)
            if index < len(self._between_exams) and self._between_exams[index] == gap:
                del self._between_exams[index]
        return gap

    def _find_gap_between_other_exams(
        self, same_exam_gaps: Sequence[int], min_index: int, random_number: int
    ) -> int | None:
        """Find a gap between two other exams, at ``min_index`` or later, without searching all gaps."""
        start = bisect_left(self._between_exams, min_index)
        indices = [bisect_left(self._between_exams, other_gap) for other_gap in same_exam_gaps]
        excluded = [
            index
            for index, gap in zip(indices, same_exam_gaps, strict=True)
            if self._between_exams[index : index + 1] == [gap]
        ]
        n_available = len(self._between_exams) - start - len(excluded)
        if n_available <= 0:
            return None
        chosen_index = start + random_number % n_available
        for index in excluded:
            chosen_index += index <= chosen_index
        return self._between_exams[chosen_index]


def compute_position_between(queue: Sequence[QueuedQuestion], index: int) -> int:
    """Return a position between the question at ``index`` and the next; if none is free, that question's."""
    return (queue[index].position + queue[index + 1].position) // 2


def count_missing_repeats(plan: HiddenPlan, *, own_count: int, existing: int) -> int:
    """Return the number of repeats to add.

    Args:
        plan: the plan of hidden questions.
        own_count: the number of the reviewer's questions that are not hidden.
        existing: the number of repeats that the reviewer already has.
    """
    return max(0, round(plan.repeat_share * own_count) - existing)


def choose_repeats_in_queue(
    queue: Sequence[QueuedQuestion],
    plan: HiddenPlan,
    *,
    person_id: int,
    repeated: frozenset[int],
    gaps: QueueGaps,
    count: int,
) -> list[tuple[QueuedQuestion, int]]:
    """Choose questions to repeat, and their positions in the queue.

    Args:
        queue: the reviewer's queue.
        plan: the plan of hidden questions.
        person_id: the id of the reviewer.
        repeated: the ids of the questions that are already repeated.
        gaps: the free gaps of the queue.
        count: the number of repeats.

    Returns:
        (question, index in the queue after which to repeat it); fewer than ``count`` if there are not
        enough gaps.
    """
    chosen: list[tuple[QueuedQuestion, int]] = []
    for index, question in _sort_by_hash(list(enumerate(queue)), f"{plan.seed}:repeat:{person_id}"):
        if len(chosen) == count:
            break
        if (
            question.is_hidden
            or question.question_row_id in repeated
            or question.state is AssignmentState.SKIPPED
        ):
            continue
        random_number = compute_draw_hash(f"{plan.seed}:place:{person_id}:{question.question_id}") % 2**32
        gap = gaps.take_gap(
            exam_row_id=question.exam_row_id, min_index=index + plan.min_distance, random_number=random_number
        )
        if gap is not None:
            chosen.append((question, gap))
    return chosen


def choose_repeats_of_judged(
    judged: Sequence[QueuedQuestion],
    plan: HiddenPlan,
    *,
    person_id: int,
    repeated: frozenset[int],
    count: int,
) -> list[tuple[QueuedQuestion, int]]:
    """Choose questions to repeat for a reviewer who takes questions from a shared queue.

    Only judged questions can be chosen, because the reviewer's other questions are not known yet.

    Args:
        judged: the reviewer's judged questions, in the order of the first verdict.
        plan: the plan of hidden questions.
        person_id: the id of the reviewer.
        repeated: the ids of the questions that are already repeated.
        count: the number of repeats.

    Returns:
        (question, number of verdicts after which to repeat it).
    """
    repeats = []
    order = _sort_by_hash(list(enumerate(judged)), f"{plan.seed}:repeat:{person_id}")
    chosen = [
        (index, question)
        for index, question in order
        if not question.is_hidden and question.question_row_id not in repeated
    ][:count]
    for index, question in chosen:
        spread = (
            compute_draw_hash(f"{plan.seed}:place:{person_id}:{question.question_id}") % plan.min_distance
        )
        repeats.append((question, max(index + 1 + plan.min_distance, len(judged) + 1) + spread))
    return repeats


def _sort_by_hash(
    indexed_questions: list[tuple[int, QueuedQuestion]], salt: str
) -> list[tuple[int, QueuedQuestion]]:
    return sorted(
        indexed_questions,
        key=lambda pair: (compute_draw_hash(f"{salt}:{pair[1].question_id}"), pair[1].question_id),
    )
