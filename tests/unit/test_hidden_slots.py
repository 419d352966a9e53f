"""The gaps of a reviewer's queue: the fast search agrees with the exhaustive one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from domain.batches import AssignmentState
from domain.hidden import QueuedQuestion
from review.hidden_placement import QueueGaps, compute_position_between


@st.composite
def queues(draw):
    """Some exams with some questions each, with or without gaps between their positions."""
    found, position = [], 0
    for _ in range(draw(st.integers(0, 8))):
        exam = draw(st.integers(1, 4))
        for _ in range(draw(st.integers(1, 3))):
            position += draw(st.sampled_from([1, 2, 4]))
            found.append(
                QueuedQuestion(
                    number=position, key=str(position), exam_number=exam, position=position,
                    state=draw(st.sampled_from(AssignmentState)), hidden=False,
                )
            )  # fmt: skip
    return found


def gone_through(queue, taken, *, exam_number, behind):
    """Every gap that fits, in the order of the queue."""
    open_ = [at for at, each in enumerate(queue) if each.state is AssignmentState.OPEN]
    together = behind == 0 and exam_number in {each.exam_number for each in queue}
    found = []
    for at in range(open_[0], open_[-1]) if open_ else ():
        here, after = queue[at].exam_number, queue[at + 1].exam_number
        beside = exam_number in (here, after)
        if at in taken or at < behind or compute_position_between(queue, at) == queue[at].position:
            continue
        if beside if together else not beside and here != after:
            found.append(at)
    return found


ASKED = st.tuples(st.integers(1, 5), st.just(0) | st.integers(0, 20), st.integers(0, 2**32 - 1))


@given(queues(), st.lists(ASKED, max_size=12))
def test_a_gap_is_chosen_among_all_that_are_free_and_fit(queue, asked):
    slots, taken = QueueGaps(queue), set[int]()
    for exam, behind, pick in asked:
        fit = gone_through(queue, taken, exam_number=exam, behind=behind)
        expected = fit[pick % len(fit)] if fit else None
        assert slots.take_gap(exam_number=exam, min_index=behind, random_number=pick) == expected
        taken.add(expected)
