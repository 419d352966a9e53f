"""Services for adjudication: its rules, the disputes of a batch, one dispute, its adjudication."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session

from accounts.service import person_named
from accounts.service.audit import record
from domain.adjudications import Adjudication, AdjudicationRules, Dispute
from domain.batches import Batch
from domain.errors import AlreadyThere, NotAllowed, Refused, StaleRevision
from domain.exams import Exam
from domain.image_display import recorded_display
from domain.people import Action, Person, require
from domain.questions import Question
from domain.verdicts import Verdict
from records.verdicts import correction_to_plain
from review.disputes import (
    FieldDifference,
    check_follows,
    differences,
    disputes,
    stale_dispute_text,
    without_unchanged_fields,
)
from review.service.batches import batch_subject
from storage.accounts.people import load_person
from storage.audit.contents import recorded_image
from storage.intake.exams import exam_number, load_exam
from storage.intake.questions import load_question, load_questions
from storage.review import adjudications
from storage.review.adjudications import KeptRules
from storage.review.assignments import hold_batch
from storage.sampling.batches import load_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Disputed:
    """A question that reviewers disagree on; ``settled`` is its latest adjudication, None while open."""

    question_number: int
    question_id: str
    about: frozenset[Dispute]
    settled: Adjudication | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeSheet:
    """The data that an adjudicator sees of one dispute.

    ``called`` are the reviewers' names as shown, in the order of ``verdicts``: display names, or "Reviewer A"
    if names are hidden.
    """

    batch: Batch
    rules: AdjudicationRules
    question_number: int
    question: Question
    exam_number: int
    exam: Exam
    called: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    about: frozenset[Dispute]
    differences: tuple[FieldDifference, ...]
    settled: Adjudication | None

    @property
    def revision(self) -> int:
        """The revision of the next adjudication."""
        return (self.settled.revision if self.settled else 0) + 1


def adjudication_rules(db: Session, *, by: Person, batch: str) -> KeptRules:
    """The rules of adjudication of a batch."""
    require(by, Action.ASSIGN)
    return adjudications.rules_of(db, batch_id=load_batch(db, name=batch).id)


def change_adjudication_rules(
    db: Session, *, by: Person, batch: str, rules: AdjudicationRules, revision: int, now: datetime
) -> KeptRules:
    """Change the rules of adjudication, including the adjudicators. Locks the batch.

    Setting the same rules again changes nothing.

    Args:
        db: a session that writes.
        by: who acts.
        batch: its name.
        rules: the new rules.
        revision: of the rules that the user was shown.
        now: the time.

    Raises:
        NotFound: there is no such batch or person.
        Refused: an adjudicator is no reviewer, or disabled.
        StaleRevision: somebody changed the rules since; the text has both.
    """
    require(by, Action.ASSIGN)
    found = load_batch(db, name=batch)
    hold_batch(db, batch_id=found.id)
    before = adjudications.rules_of(db, batch_id=found.id)
    if before.rules == rules:
        return before
    if before.revision != revision:
        raise StaleRevision(
            f"Somebody changed the rules since. Now: {_rules_text(before.rules)}. "
            f"Yours: {_rules_text(rules)}."
        )
    people = [person_named(db, name=name) for name in dict.fromkeys(rules.adjudicators)]
    unfit = [each.name for each in people if not each.may(Action.ADJUDICATE)]
    if unfit:
        raise Refused(f"{', '.join(unfit)}: no reviewer, or disabled, so no adjudicator.")
    adjudications.put_rules(
        db, batch_id=found.id, rules=rules, person_ids=[each.id for each in people],
        revision=before.revision + 1, now=now,
    )  # fmt: skip
    record(
        db, by=by, what="change rules of adjudication", subject=batch_subject(found),
        old=_rules_text(before.rules), new=_rules_text(rules), now=now,
    )  # fmt: skip
    return adjudications.rules_of(db, batch_id=found.id)


def batches_to_settle(db: Session, *, person: Person) -> list[Batch]:
    """The batches in which the person is an adjudicator."""
    require(person, Action.ADJUDICATE)
    found = adjudications.batches_to_settle(db, person_id=person.id)
    return [load_batch(db, batch_id=each) for each in found]


def disputed(db: Session, *, person: Person, batch_id: int) -> list[Disputed]:
    """The batch's disputes, open and settled, by position, without questions that the person judged.

    Raises:
        NotAllowed: the person is no adjudicator of the batch.
    """
    require(person, Action.ADJUDICATE)
    batch, rules = _batch(db, person, batch_id)
    numbers = adjudications.perhaps_disputed(db, batch_id=batch.id)
    verdicts = adjudications.latest_verdicts(db, batch_id=batch.id, question_ids=numbers)
    settled = adjudications.latest_adjudications(db, batch_ids=[batch.id])
    questions = dict(load_questions(db, question_ids=numbers))
    found = []
    for number in numbers:
        theirs = verdicts[number]
        about = disputes(questions[number], theirs, same_box=rules.same_box)
        done = settled.get((batch.id, number))
        if (about or done) and person.id not in {each.person_id for each in theirs}:
            found.append(
                Disputed(question_number=number, question_id=questions[number].id, about=about, settled=done)
            )
    return found


def open_dispute(db: Session, *, person: Person, batch_id: int, question_number: int) -> DisputeSheet:
    """One question with each reviewer's latest verdict, for its adjudication.

    Raises:
        NotAllowed: the person is no adjudicator of the batch, or judged the question.
        Refused: fewer than two people have judged it.
    """
    require(person, Action.ADJUDICATE)
    batch, rules = _batch(db, person, batch_id)
    verdicts = _verdicts(db, person, batch, question_number)
    question = load_question(db, question_id=question_number)
    number = exam_number(db, question_id=question_number)
    settled = adjudications.latest_adjudications(
        db, batch_ids=[batch.id], question_ids=[question_number]
    ).get((batch.id, question_number))
    called = tuple(
        f"Reviewer {chr(ord('A') + place)}"
        if rules.hide_names
        else load_person(db, person_id=each.person_id).display_name
        for place, each in enumerate(verdicts)
    )
    return DisputeSheet(
        batch=batch,
        rules=rules,
        question_number=question_number,
        question=question,
        exam_number=number,
        exam=load_exam(db, exam_id=number),
        called=called,
        verdicts=verdicts,
        about=disputes(question, verdicts, same_box=rules.same_box),
        differences=differences(question, verdicts),
        settled=settled,
    )


def adjudicate(db: Session, *, person: Person, adjudication: Adjudication) -> Adjudication:
    """Store an adjudication; a later revision, by any adjudicator, supersedes it. Locks the batch.

    Returns:
        The adjudication as stored. The same revision with the same content returns the first, unchanged.

    Raises:
        NotAllowed: the person is no adjudicator of the batch, or judged the question.
        StaleRevision: somebody else has adjudicated it differently meanwhile.
        InvalidValue: the corrected question is not valid, or ``follows`` names a reviewer with another
            decision or correction.
        Refused: fewer than two people have judged it, or the radiograph was not drawn and the person has not
            confirmed that.
    """
    require(person, Action.ADJUDICATE)
    if adjudication.person_id != person.id:
        raise NotAllowed(f"{person.display_name} can't settle a dispute in somebody else's name.")
    batch, _ = _batch(db, person, adjudication.batch_id)
    hold_batch(db, batch_id=batch.id)
    verdicts = _verdicts(db, person, batch, adjudication.question_id)
    question = load_question(db, question_id=adjudication.question_id)
    adjudication = without_unchanged_fields(adjudication, question)
    check_follows(adjudication, question, verdicts)
    last = adjudications.latest_adjudications(
        db, batch_ids=[batch.id], question_ids=[adjudication.question_id]
    ).get((batch.id, adjudication.question_id))
    if last is not None and replace(adjudication, given_at=last.given_at, image=last.image) == last:
        return last
    if adjudication.revision != (last.revision if last else 0) + 1:
        raise StaleRevision(stale_dispute_text(last))
    exam = load_exam(db, exam_id=exam_number(db, question_id=adjudication.question_id))
    adjudication = replace(adjudication, image=recorded_display(adjudication.image, exam=exam))
    try:
        adjudications.add_adjudication(db, adjudication=adjudication)
    except AlreadyThere as error:
        raise StaleRevision(stale_dispute_text(last)) from error
    record(
        db, by=person, what="adjudicate", why=adjudication.reason, now=adjudication.given_at,
        subject=f"{batch_subject(batch)} question {adjudication.question_id}",
        old=None if last is None else _plain(last), new=_plain(adjudication),
    )  # fmt: skip
    return adjudication


# ----------------------------------------------------------------------------------------- helper functions
def _batch(db: Session, person: Person, batch_id: int) -> tuple[Batch, AdjudicationRules]:
    batch = load_batch(db, batch_id=batch_id)
    rules = adjudications.rules_of(db, batch_id=batch.id).rules
    if person.name not in rules.adjudicators:
        raise NotAllowed(
            f"{person.display_name} settles no disputes of batch {batch.name}. Ask a coordinator to be named."
        )
    return batch, rules


def _verdicts(db: Session, person: Person, batch: Batch, question_number: int) -> tuple[Verdict, ...]:
    found = adjudications.latest_verdicts(db, batch_id=batch.id, question_ids=[question_number])
    verdicts = found.get(question_number, ())
    if person.id in {each.person_id for each in verdicts}:
        raise NotAllowed(f"{person.display_name} judged this question, so somebody else has to settle it.")
    if len(verdicts) < 2:
        raise Refused("Fewer than two people have judged this question: there is nothing to settle.")
    return verdicts


def _plain(adjudication: Adjudication) -> dict[str, object]:
    return {
        "revision": adjudication.revision,
        "decision": adjudication.decision.value,
        "correction": correction_to_plain(adjudication.correction),
        "follows": list(adjudication.follows),
        **recorded_image(adjudication.image),
    }


def _rules_text(rules: AdjudicationRules) -> str:
    names = ", ".join(rules.adjudicators) or "nobody"
    hidden = "names hidden" if rules.hide_names else "names shown"
    return f"{names}; {hidden}; boxes from IoU {rules.same_box:g} on are the same"
