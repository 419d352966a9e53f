"""Services for hidden questions of a batch: repeats of a reviewer's own, and planted faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record
from domain.batches import AssignmentState, Batch
from domain.errors import InvalidValue, NotFound, Refused
from domain.hidden import HiddenPlan, HiddenQuestion, PlantedFault
from domain.people import Action, Person, require
from intake.collector import collector_paused
from review.service.batches import batch_subject
from review.service.choosing import open_batch
from review.service.hidden_planning import HiddenCount, plan_hidden
from storage.review import hidden as stored
from storage.review.assignments import set_state
from storage.review.hidden import ToHide, plan_to_plain
from storage.review.hidden_sources import queue_of
from storage.sampling.batches import load_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenSummary:
    """The questions that were or would be hidden, by reviewer; ``faults`` counts planted ones by kind."""

    batch: str
    people: tuple[HiddenCount, ...]
    faults: dict[PlantedFault, int]
    notes: tuple[str, ...]

    @property
    def total(self) -> int:
        """The number of hidden questions of all reviewers."""
        return sum(each.repeats + each.planted for each in self.people)


def hidden_plan(db: Session, *, by: Person, batch: str) -> HiddenPlan | None:
    """The latest plan of hidden questions of a batch; None without one."""
    require(by, Action.ASSIGN)
    found = stored.hidden_set(db, batch_id=load_batch(db, name=batch).id)
    return found.plan if found else None


@collector_paused()
def preview_hiding(db: Session, *, by: Person, batch: str, plan: HiddenPlan) -> HiddenSummary:
    """Compute what :func:`hide_questions` would hide; writes nothing.

    Raises:
        NotFound: there is no such batch.
        InvalidValue: a fault that can't be found with the parts of the form that the batch asks for.
    """
    require(by, Action.ASSIGN)
    found = load_batch(db, name=batch)
    return _summary(found, *plan_hidden(db, found, plan))


def hide_questions(
    db: Session, *, by: Person, batch: str, plan: HiddenPlan, veil: int, now: datetime
) -> HiddenSummary:
    """Hide questions from each reviewer of a batch until the plan is fulfilled. Locks the batch.

    It can be called again after more was assigned or judged, and adds what is missing.

    Args:
        db: a session that writes.
        by: who acts.
        batch: its name.
        plan: the hidden questions that each reviewer is to have in all.
        veil: a random number of 62 bits that masks question numbers; stored on the first call only.
        now: the time.

    Raises:
        NotFound: there is no such batch.
        Refused: the batch is closed, or there is nothing to hide; the text says why.
        InvalidValue: a fault that can't be found with the parts of the form that the batch asks for.
    """
    require(by, Action.ASSIGN)
    found = open_batch(db, batch)
    wanted, counts = plan_hidden(db, found, plan)
    if not wanted:
        raise Refused(" ".join(_summary(found, wanted, counts).notes))
    before = stored.hidden_set(db, batch_id=found.id)
    kept = stored.put_hidden_set(db, batch_id=found.id, plan=plan, veil=veil, by=by.id or None, now=now)
    made = stored.add_hidden(db, hidden=kept, wanted=wanted, now=now)
    record(
        db, by=by, what="hide questions", subject=batch_subject(found),
        old=before and plan_to_plain(before.plan),
        new={**plan_to_plain(plan), "hidden": [_plain(each) for each in made]}, now=now,
    )  # fmt: skip
    return _summary(found, wanted, counts)


def remove_hidden(
    db: Session, *, by: Person, batch: str, numbers: Sequence[int], why: str, now: datetime
) -> int:
    """Remove hidden questions from the measures; open ones leave the reviewer's queue. Locks the batch.

    Returns:
        The number of questions removed.

    Raises:
        InvalidValue: no reason, or no question.
        NotFound: one is no hidden question of the batch, or is removed already; nothing is removed.
    """
    require(by, Action.ASSIGN)
    found = load_batch(db, name=batch, lock=True)
    why = why.strip()
    if not why:
        raise InvalidValue("reason", "say why they are removed")
    if not numbers:
        raise InvalidValue("questions", "choose at least one hidden question")
    there = {each.number: each for each in stored.hidden_questions(db, batch_id=found.id) if each.counts}
    gone = [each for each in numbers if each not in there]
    if gone:
        raise NotFound(f"{gone[0]} is no hidden question of batch {batch}, or it is removed already.")
    chosen = [there[each] for each in dict.fromkeys(numbers)]
    for each in chosen:
        withdraw_if_open(db, each, now=now)
    stored.remove_hidden(db, numbers=[each.number for each in chosen], by=by.id or None, why=why, now=now)
    record(
        db, by=by, what="remove hidden questions", subject=batch_subject(found),
        old=[_plain(each) for each in chosen], why=why, now=now,
    )  # fmt: skip
    return len(chosen)


def withdraw_if_open(db: Session, hidden: HiddenQuestion, *, now: datetime) -> None:
    """Withdraw a hidden question unless it is judged or skipped."""
    state = next(
        (
            each.state
            for each in queue_of(db, batch_id=hidden.batch_id, person_id=hidden.person_id)
            if each.number == hidden.number
        ),
        None,
    )
    if state is AssignmentState.OPEN:
        set_state(
            db, person_id=hidden.person_id, batch_id=hidden.batch_id, question_ids=[hidden.number],
            state=AssignmentState.WITHDRAWN, now=now,
        )  # fmt: skip


def _summary(batch: Batch, wanted: Sequence[ToHide], counts: Sequence[HiddenCount]) -> HiddenSummary:
    notes = []
    if not counts:
        notes.append(f"Nobody has a question of batch {batch.name}: assign it first.")
    elif not wanted:
        notes.append("Nothing further is to be hidden by this plan.")
    short = [(each.person.name, each.short_repeats) for each in counts if each.short_repeats]
    if short:
        notes.append(
            "No room so far for "
            + ", ".join(f"{count:,} repeats of {name}" for name, count in short)
            + ": a repeat goes between two exams, far enough behind the first and before the last question."
        )
    lacking = [(each.person.name, each.short_planted) for each in counts if each.short_planted]
    if lacking:
        notes.append(
            "No sound question or no room for "
            + ", ".join(f"{count:,} planted ones of {name}" for name, count in lacking)
            + ": they are made of questions that the reviewer never had and in which nothing was found."
        )
    return HiddenSummary(
        batch=batch.name,
        people=tuple(counts),
        faults=dict(Counter(each.fault for each in wanted if each.fault is not None)),
        notes=tuple(notes),
    )


def _plain(each: HiddenQuestion) -> dict[str, object]:
    return {
        "question": each.number,
        "person": each.person_id,
        "kind": each.kind.value,
        "fault": each.fault and each.fault.value,
        "of": each.source,
    }
