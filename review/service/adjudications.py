"""Services for adjudication: the rules of a batch, its disputes, and their adjudications."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session

from accounts.service import load_person_by_name
from accounts.service.audit import record_action
from domain.adjudications import Adjudication, AdjudicationRules, Dispute
from domain.batches import Batch
from domain.errata import ErratumReport
from domain.errors import AlreadyThere, NotAllowed, Refused, StaleRevision
from domain.exams import Exam
from domain.image_display import resolve_image_display
from domain.people import Action, Person, require
from domain.questions import Question
from domain.verdicts import Verdict
from review.disputes import (
    FieldDifference,
    check_adopted_verdicts,
    describe_stale_dispute,
    drop_unchanged_fields,
    find_differences,
    find_disputes,
)
from review.service.batches import batch_subject
from storage.accounts.people import load_person
from storage.audit.contents import ADJUDICATE, adjudication_to_plain
from storage.intake.exams import load_exam, load_exam_row_id
from storage.intake.questions import load_question, load_questions
from storage.release import errata
from storage.review import adjudications
from storage.review.adjudications import VersionedRules
from storage.review.assignments import lock_batch_shared
from storage.sampling.batches import list_batches, load_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class _PossibleDispute:
    """A question with several verdicts or a reported problem, and the latest verdict of each person.

    ``open_reports`` are the reports since the last adjudication of the question in any batch.
    """

    question_row_id: int
    question: Question
    verdicts: tuple[Verdict, ...]
    adjudication: Adjudication | None
    reports: tuple[ErratumReport, ...]
    open_reports: tuple[ErratumReport, ...]

    def find_kinds(self, rules: AdjudicationRules) -> frozenset[Dispute]:
        """Return why the question is adjudicated; empty if there is no reason."""
        kinds = find_disputes(self.question, self.verdicts, min_iou=rules.same_box_iou)
        is_reported = self.open_reports or (self.reports and self.adjudication)
        return kinds | {Dispute.REPORTED} if is_reported else kinds

    def is_open(self, rules: AdjudicationRules) -> bool:
        """Whether an adjudication is missing: the first one, or one after the last report."""
        return bool(self.open_reports) or (self.adjudication is None and bool(self.find_kinds(rules)))


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedQuestion:
    """A question with disagreeing verdicts or a reported problem, and its latest adjudication.

    ``is_open`` is True if there is no adjudication, or a problem was reported after the last one.
    """

    question_row_id: int
    question_id: str
    kinds: frozenset[Dispute]
    adjudication: Adjudication | None
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeSheet:
    """The data that an adjudicator sees of one dispute.

    ``reviewer_names`` has the displayed names of the reviewers, in the order of ``verdicts``: display names,
    or "Reviewer A" and so on if names are hidden. ``reports`` are the problems that were reported since the
    last adjudication.
    """

    batch: Batch
    rules: AdjudicationRules
    question_row_id: int
    question: Question
    exam_row_id: int
    exam: Exam
    reviewer_names: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    kinds: frozenset[Dispute]
    differences: tuple[FieldDifference, ...]
    adjudication: Adjudication | None
    reports: tuple[ErratumReport, ...]

    @property
    def revision(self) -> int:
        """The revision of the next adjudication."""
        return (self.adjudication.revision if self.adjudication else 0) + 1


def load_adjudication_rules(db: Session, *, by: Person, batch: str) -> VersionedRules:
    """Return the rules of adjudication of a batch, with their revision."""
    require(by, Action.ASSIGN)
    return adjudications.load_rules(db, batch_id=load_batch(db, name=batch).id)


def change_adjudication_rules(
    db: Session, *, by: Person, batch: str, rules: AdjudicationRules, revision: int, now: datetime
) -> VersionedRules:
    """Change the rules of adjudication, including the adjudicators. Locks the batch's row.

    Setting the same rules again changes nothing.

    Args:
        db: a session for writing.
        by: the acting person.
        batch: the name of the batch.
        rules: the new rules.
        revision: the revision of the rules that the user was shown.
        now: the current time.

    Raises:
        NotFound: the batch or a person does not exist.
        Refused: an adjudicator is not a reviewer, or is disabled.
        StaleRevision: another person has changed the rules since; the message has both versions.
    """
    require(by, Action.ASSIGN)
    loaded_batch = load_batch(db, name=batch)
    lock_batch_shared(db, batch_id=loaded_batch.id)
    before = adjudications.load_rules(db, batch_id=loaded_batch.id)
    if before.rules == rules:
        return before
    if before.revision != revision:
        raise StaleRevision(
            f"Not saved: another person has changed the rules. Saved rules: {_describe_rules(before.rules)}. "
            f"Your rules: {_describe_rules(rules)}."
        )
    people = [load_person_by_name(db, name=name) for name in dict.fromkeys(rules.adjudicators)]
    ineligible = [person.name for person in people if not person.may(Action.ADJUDICATE)]
    if ineligible:
        raise Refused(
            f"Adjudicators must be enabled reviewers. Choose others instead of {', '.join(ineligible)}."
        )
    adjudications.save_rules(
        db, batch_id=loaded_batch.id, rules=rules, person_ids=[person.id for person in people],
        revision=before.revision + 1, now=now,
    )  # fmt: skip
    record_action(
        db, by=by, action="change rules of adjudication", subject=batch_subject(loaded_batch),
        old=_describe_rules(before.rules), new=_describe_rules(rules), now=now,
    )  # fmt: skip
    return adjudications.load_rules(db, batch_id=loaded_batch.id)


def list_batches_to_adjudicate(db: Session, *, person: Person) -> list[Batch]:
    """Return the batches in which the person is an adjudicator."""
    require(person, Action.ADJUDICATE)
    batch_ids = adjudications.list_batches_of_adjudicator(db, person_id=person.id)
    return [load_batch(db, batch_id=number) for number in batch_ids]


def list_disputes(db: Session, *, person: Person, batch_id: int) -> list[DisputedQuestion]:
    """Return the disputes of a batch by position, open and settled.

    Questions that the person judged, or in which the person reported a problem, are left out.

    Raises:
        NotAllowed: the person is not an adjudicator of the batch.
    """
    require(person, Action.ADJUDICATE)
    batch, rules = _load_batch_as_adjudicator(db, person, batch_id)
    disputed_questions = []
    for candidate in _list_possible_disputes(db, batch):
        kinds = candidate.find_kinds(rules)
        is_involved = person.id in {
            *(verdict.person_id for verdict in candidate.verdicts),
            *(report.reporter_id for report in candidate.reports),
        }
        if (kinds or candidate.adjudication) and not is_involved:
            disputed_questions.append(
                DisputedQuestion(
                    question_row_id=candidate.question_row_id,
                    question_id=candidate.question.id,
                    kinds=kinds,
                    adjudication=candidate.adjudication,
                    is_open=candidate.is_open(rules),
                )
            )
    return disputed_questions


def count_open_disputes(db: Session, *, by: Person) -> int:
    """Return the number of open disputes in all batches.

    The function loads the verdicts of every possible dispute, so callers should cache the result by
    :func:`load_counts_version`.
    """
    require(by, Action.SEE_PROGRESS)
    count = 0
    for batch in list_batches(db):
        rules = adjudications.load_rules(db, batch_id=batch.id).rules
        count += sum(candidate.is_open(rules) for candidate in _list_possible_disputes(db, batch))
    return count


def _list_possible_disputes(db: Session, batch: Batch) -> list[_PossibleDispute]:
    """Return the questions of the batch that may have a dispute, or have a reported problem, by position."""
    numbers = adjudications.list_possible_disputes(db, batch_id=batch.id)
    verdicts = adjudications.load_latest_verdicts_by_question(db, batch_id=batch.id, question_ids=numbers)
    latest = adjudications.load_latest_adjudications(db, batch_ids=[batch.id])
    questions = dict(load_questions(db, question_ids=numbers))
    reports = errata.load_reports_by_question(db, question_row_ids=numbers)
    open_reports = select_open_reports(db, reports)
    return [
        _PossibleDispute(
            question_row_id=number,
            question=questions[number],
            verdicts=verdicts[number],
            adjudication=latest.get((batch.id, number)),
            reports=reports.get(number, ()),
            open_reports=open_reports.get(number, ()),
        )
        for number in numbers
    ]


def select_open_reports(
    db: Session, reports: Mapping[int, tuple[ErratumReport, ...]]
) -> dict[int, tuple[ErratumReport, ...]]:
    """Return the reports since the last adjudication of their question in any batch."""
    adjudicated_at = {
        number: adjudication.given_at
        for number, adjudication in errata.load_last_adjudications(db, question_row_ids=list(reports)).items()
    }
    return {
        number: tuple(
            report
            for report in question_reports
            if number not in adjudicated_at or report.reported_at > adjudicated_at[number]
        )
        for number, question_reports in reports.items()
    }


def open_dispute(db: Session, *, person: Person, batch_id: int, question_row_id: int) -> DisputeSheet:
    """Return one question with each reviewer's latest verdict, for its adjudication.

    Raises:
        NotAllowed: the person is not an adjudicator of the batch, or has judged the question or reported it.
        Refused: fewer than two people have judged the question, and nobody reported a problem in it.
    """
    require(person, Action.ADJUDICATE)
    batch, rules = _load_batch_as_adjudicator(db, person, batch_id)
    reports, open_reports = _load_reports(db, question_row_id)
    verdicts = _load_verdicts(db, person, batch, question_row_id, reports=reports)
    question = load_question(db, question_id=question_row_id)
    exam_row_id = load_exam_row_id(db, question_id=question_row_id)
    adjudication = adjudications.load_latest_adjudications(
        db, batch_ids=[batch.id], question_ids=[question_row_id]
    ).get((batch.id, question_row_id))
    reviewer_names = tuple(
        f"Reviewer {chr(ord('A') + index)}"
        if rules.hide_names
        else load_person(db, person_id=verdict.person_id).display_name
        for index, verdict in enumerate(verdicts)
    )
    return DisputeSheet(
        batch=batch,
        rules=rules,
        question_row_id=question_row_id,
        question=question,
        exam_row_id=exam_row_id,
        exam=load_exam(db, exam_id=exam_row_id),
        reviewer_names=reviewer_names,
        verdicts=verdicts,
        kinds=find_disputes(question, verdicts, min_iou=rules.same_box_iou)
        | (frozenset({Dispute.REPORTED}) if reports else frozenset()),
        # A reported question may have no disputed field, but its texts may be wrong.
        differences=find_differences(question, verdicts, always=_list_reported_fields(question, reports)),
        adjudication=adjudication,
        reports=open_reports,
    )


def _list_reported_fields(question: Question, reports: tuple[ErratumReport, ...]) -> tuple[str, ...]:
    if not reports:
        return ()
    return ("stem", *(("options",) if question.options else ()), "answer", "explanation")


def _load_reports(
    db: Session, question_row_id: int
) -> tuple[tuple[ErratumReport, ...], tuple[ErratumReport, ...]]:
    """Return all reports on a question, and the open reports."""
    reports = errata.load_reports_by_question(db, question_row_ids=[question_row_id])
    return reports.get(question_row_id, ()), select_open_reports(db, reports).get(question_row_id, ())


def adjudicate(
    db: Session, *, person: Person, adjudication: Adjudication, report_ids: Collection[int] = ()
) -> Adjudication:
    """Store an adjudication, which a later revision of any adjudicator may supersede. Locks the batch's row.

    The adjudication settles the open reports of problems in the question.

    Args:
        db: a session that can write.
        person: the adjudicator.
        adjudication: the decision.
        report_ids: the ids of the open reports that the person was shown.

    Returns:
        The stored adjudication. A repeated request with the same revision and content returns the first one.

    Raises:
        NotAllowed: the person is not an adjudicator of the batch, or has judged the question or reported it.
        StaleRevision: another person has adjudicated the question since, or reported a problem in it.
        InvalidValue: the corrected question is not valid, or ``follows`` contains a reviewer with another
            decision or correction.
        Refused: fewer than two people have judged the question and nobody reported a problem in it, or the
            radiograph was not displayed and the person has not confirmed that.
    """
    require(person, Action.ADJUDICATE)
    if adjudication.person_id != person.id:
        raise NotAllowed(f"{person.display_name} cannot adjudicate a dispute in another person's name.")
    batch, _ = _load_batch_as_adjudicator(db, person, adjudication.batch_id)
    lock_batch_shared(db, batch_id=batch.id)
    reports, open_reports = _load_reports(db, adjudication.question_row_id)
    verdicts = _load_verdicts(db, person, batch, adjudication.question_row_id, reports=reports)
    question = load_question(db, question_id=adjudication.question_row_id)
    adjudication = drop_unchanged_fields(adjudication, question)
    check_adopted_verdicts(adjudication, question, verdicts)
    latest = adjudications.load_latest_adjudications(
        db, batch_ids=[batch.id], question_ids=[adjudication.question_row_id]
    ).get((batch.id, adjudication.question_row_id))
    if latest is not None and replace(adjudication, given_at=latest.given_at, image=latest.image) == latest:
        return latest
    if adjudication.revision != (latest.revision if latest else 0) + 1:
        raise StaleRevision(describe_stale_dispute(latest))
    if not {report.id for report in open_reports} <= set(report_ids):
        raise StaleRevision("A problem was reported in the meantime. Open the question again to read it.")
    exam = load_exam(db, exam_id=load_exam_row_id(db, question_id=adjudication.question_row_id))
    adjudication = replace(adjudication, image=resolve_image_display(adjudication.image, exam=exam))
    try:
        adjudications.add_adjudication(db, adjudication=adjudication)
    except AlreadyThere as error:
        raise StaleRevision(describe_stale_dispute(latest)) from error
    record_action(
        db,
        by=person,
        action=ADJUDICATE,
        reason=adjudication.reason,
        now=adjudication.given_at,
        subject=f"{batch_subject(batch)} question {adjudication.question_row_id}",
        old=None if latest is None else adjudication_to_plain(latest),
        new=adjudication_to_plain(adjudication),
    )
    return adjudication


def _load_batch_as_adjudicator(db: Session, person: Person, batch_id: int) -> tuple[Batch, AdjudicationRules]:
    batch = load_batch(db, batch_id=batch_id)
    rules = adjudications.load_rules(db, batch_id=batch.id).rules
    if person.name not in rules.adjudicators:
        raise NotAllowed(
            f"{person.display_name} is not an adjudicator of batch {batch.name}. Ask a coordinator to "
            "add you."
        )
    return batch, rules


def _load_verdicts(
    db: Session,
    person: Person,
    batch: Batch,
    question_row_id: int,
    *,
    reports: tuple[ErratumReport, ...],
) -> tuple[Verdict, ...]:
    verdicts_by_question = adjudications.load_latest_verdicts_by_question(
        db, batch_id=batch.id, question_ids=[question_row_id]
    )
    verdicts = verdicts_by_question.get(question_row_id, ())
    if person.id in {verdict.person_id for verdict in verdicts}:
        raise NotAllowed(f"{person.display_name} judged this question, so another adjudicator has to decide.")
    if person.id in {report.reporter_id for report in reports}:
        raise NotAllowed(
            f"{person.display_name} reported a problem in this question, so another adjudicator has to "
            "decide."
        )
    if len(verdicts) < (1 if reports else 2):
        raise Refused("Fewer than two people have judged this question, so there is no dispute.")
    return verdicts


def _describe_rules(rules: AdjudicationRules) -> str:
    names = ", ".join(rules.adjudicators) or "nobody"
    hidden = "names hidden" if rules.hide_names else "names shown"
    return f"{names}; {hidden}; same box from IoU {rules.same_box_iou:g}"
