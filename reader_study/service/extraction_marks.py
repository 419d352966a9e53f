"""Services that check the extraction of answers: a person marks samples of replies by extraction rule."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import AlreadyThere, InvalidValue, NotFound, StaleRevision
from domain.marks import AnswerMark, ExtractionMark, ReplyId
from domain.people import Action, Person, require
from domain.questions import Question
from domain.readings import Prediction
from domain.studies import Case
from reader_study.extraction_check import compute_extraction_rates, group_replies, identify_reply
from reader_study.report.tables import ExtractionRate
from storage.reader_study import extraction_marks as extraction_mark_storage
from storage.reader_study.cases import list_cases
from storage.reader_study.predictions import iterate_predictions, list_models
from storage.reader_study.studies import load_current_protocol, load_study

#: The default size of a sample, in replies.
EXTRACTION_SAMPLE_SIZE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledReply:
    """A reply of the sample with the extracted answer. ``revision`` is the latest mark's revision, or 0."""

    id: ReplyId
    question: Question
    prediction: Prediction
    mark: AnswerMark | None
    revision: int
    marked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionCheck:
    """The error rates of all rules, and the sample of one rule: its first replies in random order."""

    rates: tuple[ExtractionRate, ...]
    rule: str | None
    sample: tuple[SampledReply, ...]


def load_extraction_check(
    db: Session, *, by: Person, study: str, rule: str | None = None, size: int = EXTRACTION_SAMPLE_SIZE
) -> ExtractionCheck:
    """Return the error rates by rule, and the sample of a rule.

    Args:
        db: a read-only session.
        by: the acting person.
        study: the name of the study; the sample has replies of its models to its scored cases.
        rule: the rule; None for the first one.
        size: the number of replies in the sample.

    Raises:
        NotFound: the study does not exist.
        InvalidValue: no reply of the study was read by the rule.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = load_study(db, name=study)
    protocol = load_current_protocol(db, study_id=loaded_study.id).protocol
    cases = _load_scored_cases(db, loaded_study.id)
    model_ids = [
        model.id
        for model in list_models(db, dataset_id=loaded_study.dataset_id)
        if protocol.includes_model(model.name)
    ]
    predictions = [
        prediction
        for model_id in model_ids
        for prediction in iterate_predictions(db, model_id=model_id, question_ids=list(cases))
    ]
    groups = group_replies(predictions, seed=protocol.seed)
    latest_marks = {
        mark.reply: mark for mark in extraction_mark_storage.list_extraction_marks(db, model_ids=model_ids)
    }
    marks = {reply: mark.mark for reply, mark in latest_marks.items() if mark.mark is not None}
    rates = compute_extraction_rates(groups, marks, confidence=protocol.confidence)
    chosen_rule = next(iter(groups), None) if rule is None else rule
    if chosen_rule is None:
        return ExtractionCheck(rates=rates, rule=None, sample=())
    if chosen_rule not in groups:
        reason = f"no reply of {study} was read by the rule {chosen_rule!r}. Rules: {', '.join(groups)}"
        raise InvalidValue("rule", reason)
    sample = []
    for prediction in groups[chosen_rule][:size]:
        reply = identify_reply(prediction)
        latest = latest_marks.get(reply)
        sample.append(
            SampledReply(
                id=reply,
                question=cases[prediction.question_row_id].question,
                prediction=prediction,
                mark=marks.get(reply),
                revision=latest.revision if latest else 0,
                marked_at=latest.marked_at if latest else None,
            )
        )
    return ExtractionCheck(rates=rates, rule=chosen_rule, sample=tuple(sample))


def mark_extraction(
    db: Session,
    *,
    by: Person,
    study: str,
    reply: ReplyId,
    revision: int,
    mark: AnswerMark | None,
    now: datetime,
) -> ExtractionMark:
    """Store whether the answer was extracted correctly from a reply.

    Args:
        db: a session for writing.
        by: the acting person.
        study: the name of the study.
        reply: the reply.
        revision: 1 for the first mark, otherwise the next number.
        mark: right or wrong; None to undo the present mark.
        now: the current time.

    Returns:
        The stored mark. A repeated request with the same revision and mark stores nothing.

    Raises:
        NotFound: the study does not exist, or has no such reply.
        InvalidValue: the mark is neither right nor wrong.
        StaleRevision: the reply was marked meanwhile.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = load_study(db, name=study, lock=True)
    if mark is AnswerMark.PARTLY:
        raise InvalidValue("mark", "must be right or wrong")
    model_ids = {model.id for model in list_models(db, dataset_id=loaded_study.dataset_id)}
    if reply.model_id not in model_ids or not any(
        iterate_predictions(db, model_id=reply.model_id, question_ids=[reply.question_row_id])
    ):
        raise NotFound(f"{study} has no such reply. Reload the page.")
    latest = {
        saved.reply: saved
        for saved in extraction_mark_storage.list_extraction_marks(db, model_ids=[reply.model_id])
    }.get(reply)
    if latest is not None and latest.revision == revision and latest.mark is mark:
        return latest
    message = "Not saved: this reply was marked meanwhile, in another tab or by another person."
    if revision != (latest.revision if latest else 0) + 1:
        raise StaleRevision(message)
    saved = ExtractionMark(reply=reply, revision=revision, mark=mark, marked_by=by.id or None, marked_at=now)
    try:
        extraction_mark_storage.add_extraction_mark(db, mark=saved)
    except AlreadyThere as error:
        raise StaleRevision(message) from error
    record_action(
        db,
        by=by,
        action="mark extraction",
        subject=f"study {loaded_study.id} model {reply.model_id} question {reply.question_row_id}",
        old=None if latest is None or latest.mark is None else latest.mark.value,
        new={"mark": None if mark is None else mark.value, "revision": revision},
        now=now,
    )
    return saved


def _load_scored_cases(db: Session, study_id: int) -> dict[int, Case]:
    """Return the scored cases by the database id of their question."""
    return {
        case.blind_case.question_row_id: case for case in list_cases(db, study_id=study_id) if case.scored
    }
