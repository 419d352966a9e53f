"""Chooses places for hidden questions in a reviewer's queue, and the questions to repeat, by hash."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence

from domain.batches import AssignmentState
from domain.draw_hash import draw_hash
from domain.hidden import HiddenPlan, QueuedQuestion


class Slots:
    """The gaps between open questions of a reviewer's queue; each is used once.

    Nothing is hidden after the last question, because an additional question at the end would be recognised.
    Gaps between questions of one exam are used only for questions of that exam.
    """

    def __init__(self, queue: Sequence[QueuedQuestion]) -> None:
        self._on_exam: dict[int, list[int]] = defaultdict(list)
        self._free: set[int] = set()
        self._apart: list[int] = []  # gaps between two exams, sorted: a queue may have 100,000
        self._exams = {each.exam_number for each in queue}
        open_ = [at for at, each in enumerate(queue) if each.state is AssignmentState.OPEN]
        for at in range(open_[0], open_[-1]) if open_ else ():
            if between(queue, at) == queue[at].position:
                continue
            here, behind = queue[at].exam_number, queue[at + 1].exam_number
            self._free.add(at)
            for exam in {here, behind}:
                self._on_exam[exam].append(at)
            if here != behind:
                self._apart.append(at)

    def take(self, *, exam_number: int, behind: int, pick: int) -> int | None:
        """Take a gap.

        Args:
            exam_number: of the question to hide.
            behind: the smallest index in the queue after which it may be placed.
            pick: a number that chooses among the free gaps.

        Returns:
            The index in the queue after which the question is placed; None without a free gap.
        """
        beside = [at for at in self._on_exam.get(exam_number, ()) if at in self._free and at >= behind]
        if behind == 0 and exam_number in self._exams:
            chosen = beside[pick % len(beside)] if beside else None
        else:
            chosen = self._apart_from(beside, behind, pick)
        if chosen is not None:
            self._free.discard(chosen)
            place = bisect_left(self._apart, chosen)
            if place < len(self._apart) and self._apart[place] == chosen:
                del self._apart[place]
        return chosen

    def _apart_from(self, beside: Sequence[int], behind: int, pick: int) -> int | None:
        """Find a gap between two other exams, at ``behind`` or later, without searching all gaps."""
        first = bisect_left(self._apart, behind)
        places = [bisect_left(self._apart, at) for at in beside]
        barred = [at for at, gap in zip(places, beside, strict=True) if self._apart[at : at + 1] == [gap]]
        count = len(self._apart) - first - len(barred)
        if count <= 0:
            return None
        place = first + pick % count
        for each in barred:
            place += each <= place
        return self._apart[place]


def between(queue: Sequence[QueuedQuestion], at: int) -> int:
    """A position between that of the question at an index and the next; its own if there is no space."""
    return (queue[at].position + queue[at + 1].position) // 2


def wanted_repeats(plan: HiddenPlan, *, own: int, there: int) -> int:
    """The number of repeats to add.

    Args:
        plan: the plan.
        own: number of the reviewer's own questions.
        there: number of repeats that they have already.
    """
    return max(0, round(plan.repeats * own) - there)


def repeats_in_queue(
    queue: Sequence[QueuedQuestion],
    plan: HiddenPlan,
    *,
    person_id: int,
    repeated: frozenset[int],
    slots: Slots,
    count: int,
) -> list[tuple[QueuedQuestion, int]]:
    """Choose questions to repeat, and their places in the queue.

    Args:
        queue: of the reviewer.
        plan: the plan.
        person_id: of the reviewer.
        repeated: numbers of questions that are repeated already.
        slots: the free gaps of the queue.
        count: number of repeats.

    Returns:
        (question, index in the queue after which it is repeated); fewer than ``count`` without enough gaps.
    """
    found: list[tuple[QueuedQuestion, int]] = []
    for at, each in _by_hash(list(enumerate(queue)), f"{plan.seed}:repeat:{person_id}"):
        if len(found) == count:
            break
        if each.hidden or each.number in repeated or each.state is AssignmentState.SKIPPED:
            continue
        pick = draw_hash(f"{plan.seed}:place:{person_id}:{each.key}") % 2**32
        place = slots.take(exam_number=each.exam_number, behind=at + plan.distance, pick=pick)
        if place is not None:
            found.append((each, place))
    return found


def repeats_of_judged(
    judged: Sequence[QueuedQuestion],
    plan: HiddenPlan,
    *,
    person_id: int,
    repeated: frozenset[int],
    count: int,
) -> list[tuple[QueuedQuestion, int]]:
    """Choose questions of a shared queue to repeat; only judged ones, because the others are not known yet.

    Args:
        judged: the reviewer's judged questions, in that order.
        plan: the plan.
        person_id: of the reviewer.
        repeated: numbers of questions that are repeated already.
        count: number of repeats.

    Returns:
        (question, number of verdicts after which it is repeated).
    """
    found = []
    order = _by_hash(list(enumerate(judged)), f"{plan.seed}:repeat:{person_id}")
    chosen = [(at, each) for at, each in order if not each.hidden and each.number not in repeated][:count]
    for at, each in chosen:
        spread = draw_hash(f"{plan.seed}:place:{person_id}:{each.key}") % plan.distance
        found.append((each, max(at + 1 + plan.distance, len(judged) + 1) + spread))
    return found


def _by_hash(places: list[tuple[int, QueuedQuestion]], mixed: str) -> list[tuple[int, QueuedQuestion]]:
    return sorted(places, key=lambda each: (draw_hash(f"{mixed}:{each[1].key}"), each[1].key))
