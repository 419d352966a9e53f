"""The gaps of a reviewer's queue: the fast search agrees with an exhaustive search."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.batches import AssignmentState
from domain.hidden import QueuedQuestion
from review.hidden_placement import QueueGaps, compute_position_between


@st.composite
def queues(draw):
    """Some exams with some questions each, with or without gaps between their positions."""
    queue, position = [], 0
    for _ in range(draw(st.integers(0, 8))):
        exam = draw(st.integers(1, 4))
        for _ in range(draw(st.integers(1, 3))):
            position += draw(st.sampled_from([1, 2, 4]))
            queue.append(
                QueuedQuestion(
                    question_row_id=position,
                    question_id=str(position),
                    exam_row_id=exam,
                    position=position,
                    state=draw(st.sampled_from(AssignmentState)),
                    is_hidden=False,
                )
            )
    return queue


def find_gaps_by_scan(queue, taken_gaps, *, exam_row_id, after_position):
    """Every gap that fits, in the order of the queue."""
    open_indices = [index for index, entry in enumerate(queue) if entry.state is AssignmentState.OPEN]
    is_exam_in_queue = after_position == 0 and exam_row_id in {entry.exam_row_id for entry in queue}
    gaps = []
    for index in range(open_indices[0], open_indices[-1]) if open_indices else ():
        exam_before, exam_after = queue[index].exam_row_id, queue[index + 1].exam_row_id
        is_next_to_exam = exam_row_id in (exam_before, exam_after)
        if (
            index in taken_gaps
            or index < after_position
            or compute_position_between(queue, index) == queue[index].position
        ):
            continue
        if is_next_to_exam if is_exam_in_queue else not is_next_to_exam and exam_before != exam_after:
            gaps.append(index)
    return gaps


GAP_REQUESTS = st.tuples(st.integers(1, 5), st.just(0) | st.integers(0, 20), st.integers(0, 2**32 - 1))


@given(queues(), st.lists(GAP_REQUESTS, max_size=12))
@pytest.mark.slow
def test_a_gap_is_chosen_from_all_free_suitable_gaps(queue, requests):
    gaps, taken_gaps = QueueGaps(queue), set[int]()
    for exam, after_position, random_number in requests:
        suitable = find_gaps_by_scan(queue, taken_gaps, exam_row_id=exam, after_position=after_position)
        expected = suitable[random_number % len(suitable)] if suitable else None
        assert (
            gaps.take_gap(exam_row_id=exam, min_index=after_position, random_number=random_number) == expected
        )
        taken_gaps.add(expected)
