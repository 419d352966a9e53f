"""Where hidden questions go in a reviewer's queue, and which questions come again: pure, and by hash."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from domain.batches import AssignmentState
from domain.draw_hash import draw_hash
from domain.hidden import HiddenPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """A question in a reviewer's queue, in the order of its places; ``own`` is False for a hidden one."""

    number: int
    key: str
    exam_number: int
    position: int
    state: AssignmentState
    own: bool


class Slots:
    """The gaps of one reviewer's queue that are still ahead of them, each taken once.

    A gap lies behind a question and before another that is open: behind the last question nothing is hidden,
    since who is through and gets one more would know. Gaps within the questions of one exam are left out,
    except for a question about that same exam.
    """

    def __init__(self, queue: Sequence[Queued]) -> None:
        self._on_exam: dict[int, list[int]] = defaultdict(list)
        self._free: set[int] = set()
        self._apart: list[int] = []  # those between two exams, in order: a queue may have 100,000 questions
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
        """The place in the queue behind which a question on that exam goes, at ``behind`` or later.

        ``pick`` chooses among those that are free; None where there is none.
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
        """One of the gaps between two other exams, from ``behind`` on, without going through them all."""
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


def between(queue: Sequence[Queued], at: int) -> int:
    """A position behind the one at that place and before the next; its own where there is no room."""
    return (queue[at].position + queue[at + 1].position) // 2


def wanted_repeats(plan: HiddenPlan, *, own: int, there: int) -> int:
    """How many further repeats the plan asks for, of ``own`` questions with ``there`` repeats already."""
    return max(0, round(plan.repeats * own) - there)


def repeats_in_queue(
    queue: Sequence[Queued],
    plan: HiddenPlan,
    *,
    person_id: int,
    repeated: frozenset[int],
    slots: Slots,
    count: int,
) -> list[tuple[Queued, int]]:
    """(question, place in the queue behind which it comes again) of so many; fewer where there is no room."""
    found: list[tuple[Queued, int]] = []
    for at, each in _by_hash(list(enumerate(queue)), f"{plan.seed}:repeat:{person_id}"):
        if len(found) == count:
            break
        if not each.own or each.number in repeated or each.state is AssignmentState.SKIPPED:
            continue
        pick = draw_hash(f"{plan.seed}:place:{person_id}:{each.key}") % 2**32
        place = slots.take(exam_number=each.exam_number, behind=at + plan.distance, pick=pick)
        if place is not None:
            found.append((each, place))
    return found


def repeats_of_judged(
    judged: Sequence[Queued], plan: HiddenPlan, *, person_id: int, repeated: frozenset[int], count: int
) -> list[tuple[Queued, int]]:
    """(question, how many must be judged before it comes again) of a shared queue.

    ``judged`` are the person's in the order in which they judged them; what will be theirs nobody knows.
    """
    found = []
    order = _by_hash(list(enumerate(judged)), f"{plan.seed}:repeat:{person_id}")
    chosen = [(at, each) for at, each in order if each.own and each.number not in repeated][:count]
    for at, each in chosen:
        spread = draw_hash(f"{plan.seed}:place:{person_id}:{each.key}") % plan.distance
        found.append((each, max(at + 1 + plan.distance, len(judged) + 1) + spread))
    return found


def _by_hash(places: list[tuple[int, Queued]], mixed: str) -> list[tuple[int, Queued]]:
    return sorted(places, key=lambda each: (draw_hash(f"{mixed}:{each[1].key}"), each[1].key))
