"""Services for the hidden questions of a batch: repeats of a reviewer's questions, and planted faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.batches import AssignmentState, Batch
from domain.errors import InvalidValue, NotFound, Refused
from domain.hidden import HiddenPlan, HiddenQuestion, PlantedFault
from domain.people import Action, Person, require
from intake.garbage_collector import pause_garbage_collector
from review.service.batches import batch_subject
from review.service.coordinator_lookups import lock_open_batch
from review.service.hidden_plans import HiddenCounts, plan_hidden
from storage.review import hidden as hidden_storage
from storage.review.assignments import set_state
from storage.review.hidden import QuestionToHide, plan_to_plain
from storage.review.hidden_sources import load_queue
from storage.sampling.batches import load_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenSummary:
    """The numbers of hidden questions by reviewer and of planted faults by kind, also in a preview."""

    batch: str
    people: tuple[HiddenCounts, ...]
    faults: dict[PlantedFault, int]
    notes: tuple[str, ...]

    @property
    def total(self) -> int:
        """The number of hidden questions of all reviewers."""
        return sum(counts.repeats + counts.planted for counts in self.people)


def load_hidden_plan(db: Session, *, by: Person, batch: str) -> HiddenPlan | None:
    """Return the latest plan of hidden questions of a batch; None if there is none."""
    require(by, Action.ASSIGN)
    hidden_set = hidden_storage.find_hidden_set(db, batch_id=load_batch(db, name=batch).id)
    return hidden_set.plan if hidden_set else None


@pause_garbage_collector()
def preview_hiding(db: Session, *, by: Person, batch: str, plan: HiddenPlan) -> HiddenSummary:
    """Compute what :func:`hide_questions` would hide. Nothing is written.

    Raises:
        NotFound: the batch does not exist.
        InvalidValue: a kind of fault cannot be found with the form fields that the batch requests.
    """
    require(by, Action.ASSIGN)
    loaded_batch = load_batch(db, name=batch)
    return _build_summary(loaded_batch, *plan_hidden(db, loaded_batch, plan))


def hide_questions(
    db: Session, *, by: Person, batch: str, plan: HiddenPlan, mask_secret: int, now: datetime
) -> HiddenSummary:
    """Hide questions from each reviewer of a batch until the plan is fulfilled. Locks the batch's row.

    The function can be called again after more questions were assigned or judged; it then adds what is
    missing.

    Args:
        db: a session for writing.
        by: the acting person.
        batch: the name of the batch.
        plan: the plan, with the total numbers of hidden questions of each reviewer.
        mask_secret: a random number of 62 bits that masks question ids; stored on the first call only.
        now: the current time.

    Raises:
        NotFound: the batch does not exist.
        Refused: the batch is closed, or there is no question to hide; the message states the reason.
        InvalidValue: a kind of fault cannot be found with the form fields that the batch requests.
    """
    require(by, Action.ASSIGN)
    loaded_batch = lock_open_batch(db, batch)
    to_hide, counts = plan_hidden(db, loaded_batch, plan)
    if not to_hide:
        raise Refused(" ".join(_build_summary(loaded_batch, to_hide, counts).notes))
    previous = hidden_storage.find_hidden_set(db, batch_id=loaded_batch.id)
    hidden_set = hidden_storage.save_hidden_set(
        db, batch_id=loaded_batch.id, plan=plan, id_mask=mask_secret, by=by.id or None, now=now
    )
    added = hidden_storage.add_hidden(db, hidden=hidden_set, requests=to_hide, now=now)
    record_action(
        db, by=by, action="hide questions", subject=batch_subject(loaded_batch),
        old=previous and plan_to_plain(previous.plan),
        new={**plan_to_plain(plan), "hidden": [_hidden_to_json(question) for question in added]}, now=now,
    )  # fmt: skip
    return _build_summary(loaded_batch, to_hide, counts)


def remove_hidden(
    db: Session, *, by: Person, batch: str, numbers: Sequence[int], reason: str, now: datetime
) -> int:
    """Remove hidden questions from the results, and open ones from the reviewer's queue.

    Locks the batch's row.

    Returns:
        The number of removed questions.

    Raises:
        InvalidValue: the reason or the questions are missing.
        NotFound: a question is not a hidden question of the batch, or is already removed. Then no question is
            removed.
    """
    require(by, Action.ASSIGN)
    loaded_batch = load_batch(db, name=batch, lock=True)
    reason = reason.strip()
    if not reason:
        raise InvalidValue("reason", "enter a reason for the removal")
    if not numbers:
        raise InvalidValue("questions", "choose at least one hidden question")
    removable = {
        question.question_row_id: question
        for question in hidden_storage.list_hidden_questions(db, batch_id=loaded_batch.id)
        if question.is_counted
    }
    unknown = [number for number in numbers if number not in removable]
    if unknown:
        raise NotFound(f"{unknown[0]} is not a hidden question of batch {batch}, or is already removed.")
    to_remove = [removable[number] for number in dict.fromkeys(numbers)]
    for question in to_remove:
        withdraw_if_open(db, question, now=now)
    hidden_storage.remove_hidden(
        db,
        numbers=[question.question_row_id for question in to_remove],
        by=by.id or None,
        reason=reason,
        now=now,
    )
    record_action(
        db, by=by, action="remove hidden questions", subject=batch_subject(loaded_batch),
        old=[_hidden_to_json(question) for question in to_remove], reason=reason, now=now,
    )  # fmt: skip
    return len(to_remove)


def withdraw_if_open(db: Session, hidden: HiddenQuestion, *, now: datetime) -> None:
    """Withdraw a hidden question, unless it is judged or skipped."""
    state = next(
        (
            queued.state
            for queued in load_queue(db, batch_id=hidden.batch_id, person_id=hidden.person_id)
            if queued.question_row_id == hidden.question_row_id
        ),
        None,
    )
    if state is AssignmentState.OPEN:
        set_state(
            db, person_id=hidden.person_id, batch_id=hidden.batch_id, question_ids=[hidden.question_row_id],
            state=AssignmentState.WITHDRAWN, now=now,
        )  # fmt: skip


def _build_summary(
    batch: Batch, to_hide: Sequence[QuestionToHide], counts: Sequence[HiddenCounts]
) -> HiddenSummary:
    notes = []
    if not counts:
        notes.append(f"No questions of batch {batch.name} are assigned. Assign them first.")
    elif not to_hide:
        notes.append("This plan hides no further questions.")
    missing_repeats = [
        (reviewer_counts.person.name, reviewer_counts.missing_repeats)
        for reviewer_counts in counts
        if reviewer_counts.missing_repeats
    ]
    if missing_repeats:
        notes.append(
            "Not placed: "
            + ", ".join(f"{count:,} repeats for {name}" for name, count in missing_repeats)
            + (
                ". A repeat needs a position between two exams, with the minimum gap after the first "
                "showing and before the last question."
            )
        )
    missing_planted = [
        (reviewer_counts.person.name, reviewer_counts.missing_planted)
        for reviewer_counts in counts
        if reviewer_counts.missing_planted
    ]
    if missing_planted:
        notes.append(
            "Not placed: "
            + ", ".join(f"{count:,} planted questions for {name}" for name, count in missing_planted)
            + (
                ". Planted questions need questions without reported errors that the reviewer has not "
                "judged, and a free position."
            )
        )
    return HiddenSummary(
        batch=batch.name,
        people=tuple(counts),
        faults=dict(Counter(hidden.fault for hidden in to_hide if hidden.fault is not None)),
        notes=tuple(notes),
    )


def _hidden_to_json(hidden: HiddenQuestion) -> dict[str, object]:
    return {
        "question": hidden.question_row_id,
        "person": hidden.person_id,
        "kind": hidden.kind.value,
        "fault": hidden.fault and hidden.fault.value,
        "of": hidden.source_question_row_id,
    }
