"""Services that store the answers of an evaluation as predictions, in the options of the release."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import InvalidValue, NotFound, Refused
from domain.evaluations import AnsweredBy, Condition, Evaluation, EvaluationCase, EvaluationRun
from domain.people import Action, Person, require
from domain.problems import Refusal
from domain.readings import Prediction
from evaluation.requests import list_shown_options
from evaluation.service.plans import load_question_formats
from intake.garbage_collector import pause_garbage_collector
from language_models import service as models
from reader_study.predictions_file import PredictionRecord, QuestionFormat, Refusals, resolve_answer
from reader_study.predictions_process import read_predictions_in_process
from storage.evaluation import evaluations as evaluation_storage
from storage.reader_study import predictions as prediction_storage

_CHUNK = 5_000
#: A record or a refusal, and the number of bytes read so far.
_Read = tuple[PredictionRecord | Refusal, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswers:
    """What was stored: new answers, how many of them could not be extracted, and refused records.

    If there are ``refusals``, nothing was stored. ``refused`` counts all of them.
    """

    added: int
    failed: int
    refusals: tuple[Refusal, ...] = ()
    refused: int = 0


@pause_garbage_collector()
def store_replies(
    db: Session, *, by: Person, name: str, condition: Condition, now: datetime
) -> StoredAnswers:
    """Extract the answers from the replies of an endpoint so far, and store those that are new.

    A request without a usable reply has no answer; one can be stored after the request was repeated.

    Raises:
        NotFound: there is no such evaluation or condition.
        Refused: the condition is not answered by an endpoint.
    """
    require(by, Action.RUN_MODELS)
    evaluation, run = load_condition(db, name=name, condition=condition)
    if run.model_run is None:
        raise Refused(
            f"The answers of {name} come from a {evaluation.answered_by.value}, not from an endpoint."
        )
    evaluation_storage.lock_run(db, run_id=run.id)
    answered_ids = prediction_storage.load_predicted_questions(db, model_id=run.model_id)
    if len(answered_ids) == run.cases:
        return StoredAnswers(added=0, failed=0)
    records = (
        _reply_to_record(line, int(custom_id), reply)
        for line, (custom_id, reply, _) in enumerate(
            models.iterate_reply_texts(db, by=by, name=run.model_run), start=1
        )
        if reply is not None and int(custom_id) not in answered_ids
    )
    by_row_id = {str(item.number): item for item in load_question_formats(db, evaluation).values()}
    return _store(
        db, by=by, evaluation=evaluation, run=run, records=records, questions=by_row_id,
        source=f"replies of {run.model_run}", now=now,
    )  # fmt: skip


def store_records(
    db: Session,
    *,
    by: Person,
    name: str,
    condition: Condition,
    records: Iterable[PredictionRecord | Refusal],
    source: str,
    now: datetime,
    file: str = "",
) -> StoredAnswers:
    """Store answers of a command or a file. A question that has an answer already is refused.

    Args:
        db: a session that can write.
        by: the acting person.
        name: the evaluation.
        condition: the condition.
        records: the answers, which refer to the options in the order shown, and refusals of unreadable
            records.
        source: where they are from, for the audit trail.
        now: the current time.
        file: the name of the file in refusals; "" for ``source``.

    Raises:
        NotFound: there is no such evaluation or condition.
        Refused: the condition is answered by an endpoint.
    """
    require(by, Action.RUN_MODELS)
    evaluation, run = load_condition(db, name=name, condition=condition)
    if evaluation.answered_by is AnsweredBy.ENDPOINT:
        raise Refused(
            f"The answers of {name} come from an endpoint. Start it with `cli.py evaluate run {name}`."
        )
    evaluation_storage.lock_run(db, run_id=run.id)
    return _store(
        db,
        by=by,
        evaluation=evaluation,
        run=run,
        records=records,
        questions=load_question_formats(db, evaluation),
        source=source,
        now=now,
        file=file,
    )


@pause_garbage_collector()
def import_answers(
    db: Session,
    *,
    by: Person,
    name: str,
    condition: Condition,
    path: Path,
    file_name: str = "",
    now: datetime,
) -> StoredAnswers:
    """Store all answers of a file, or none if one is refused.

    Args:
        db: a session that can write.
        by: the acting person.
        name: the evaluation.
        condition: the condition.
        path: a file in a format that :mod:`reader_study.predictions_file` reads.
        file_name: the user's name of the file; "" for the name in ``path``.
        now: the current time.

    Raises:
        NotFound: there is no such evaluation or condition.
        Refused: the condition is answered by an endpoint.
    """
    require(by, Action.RUN_MODELS)
    file = file_name or path.name
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    with (
        closing(read_predictions_in_process(path, model=None, file=file)) as records,
        ThreadPoolExecutor(1) as pool,
    ):
        # The process starts with this request and parses while this thread loads the questions.
        first_read = pool.submit(next, records, None)
        outcome = store_records(
            db, by=by, name=name, condition=condition, records=_iterate_records(first_read, records),
            source=f"{file} {digest}", now=now, file=file,
        )  # fmt: skip
    if outcome.added or outcome.refused:
        return outcome
    refusal = Refusal(file=file, record="1", field="", reason="contains no predictions")
    return StoredAnswers(added=0, failed=0, refusals=(refusal,), refused=1)


def _iterate_records(
    first_read: Future[_Read | None], records: Iterable[_Read]
) -> Iterator[PredictionRecord | Refusal]:
    """Yield the first record, as soon as it is read, and the others."""
    read = first_read.result()
    if read is not None:
        yield read[0]
    yield from (record for record, _ in records)


def load_condition(db: Session, *, name: str, condition: Condition) -> tuple[Evaluation, EvaluationRun]:
    """Return an evaluation and its run of a condition. Callers check permissions.

    Raises:
        NotFound: there is no such evaluation, or it does not have the condition.
    """
    evaluation = evaluation_storage.load_evaluation(db, name=name)
    for run in evaluation_storage.list_runs(db, evaluation_id=evaluation.id):
        if run.condition is condition:
            return evaluation, run
    raise NotFound(f"Evaluation {name} does not have the condition “{condition.value}”.")


def build_prediction(
    record: PredictionRecord, question: QuestionFormat, case: EvaluationCase, *, model_id: int
) -> Prediction:
    """Extract the answer from what the model wrote, and convert it to the options of the release.

    Raises:
        InvalidValue: the field ``answer`` does not fit the question.
    """
    options = list_shown_options(question.options, case)
    extraction = resolve_answer(record, format_=question.format, options=options)
    return Prediction(
        model_id=model_id,
        question_row_id=case.question_row_id,
        answer=case.to_release_order(extraction.answer),
        raw=record.raw,
        rule=extraction.rule,
        explanation=record.explanation,
        boxes=record.boxes,
        seconds=record.seconds,
        probability=record.probability,
    )


def _reply_to_record(line: int, number: int, reply: str) -> PredictionRecord:
    return PredictionRecord(
        line=line, question_id=str(number), answer=None, raw=reply, explanation="", boxes=(), seconds=None
    )


def _store(
    db: Session,
    *,
    by: Person,
    evaluation: Evaluation,
    run: EvaluationRun,
    records: Iterable[PredictionRecord | Refusal],
    questions: Mapping[str, QuestionFormat],
    source: str,
    now: datetime,
    file: str = "",
) -> StoredAnswers:
    """Store predictions. ``questions`` are the questions by the id that the records use."""
    cases = evaluation_storage.load_cases(db, run_id=run.id)
    answered_ids = prediction_storage.load_predicted_questions(db, model_id=run.model_id)
    refusals = Refusals(file=file or source)
    predictions = []
    for entry in records:
        if isinstance(entry, Refusal):
            refusals.add(entry.record, entry.field, entry.reason)
            continue
        question = questions.get(entry.question_id)
        case = None if question is None else cases.get(question.number)
        try:
            if question is None or case is None:
                raise InvalidValue(
                    "question_id",
                    f"{entry.question_id!r} is not a question of {evaluation.name} in the condition "
                    f"“{run.condition.value}”",
                )
            if question.number in answered_ids:
                raise InvalidValue("question_id", f"{entry.question_id!r} has an answer already")
            predictions.append(build_prediction(entry, question, case, model_id=run.model_id))
        except InvalidValue as error:
            refusals.add(str(entry.line), error.field, error.reason)
    if refusals.count:
        return StoredAnswers(added=0, failed=0, refusals=refusals.sorted_by_line, refused=refusals.count)
    failed = sum(prediction.failed for prediction in predictions)
    if predictions:
        digest = hashlib.sha256()
        for prediction in predictions:
            digest.update(f"{prediction.question_row_id}\n{prediction.raw}\n".encode())
        run_id = prediction_storage.add_run(
            db,
            model_id=run.model_id,
            file_name=source,
            file_sha256=digest.hexdigest(),
            predictions=len(predictions),
            failed=failed,
            refused=0,
            by=by.id or None,
            now=now,
        )
        for start in range(0, len(predictions), _CHUNK):
            prediction_storage.add_predictions(
                db, run_id=run_id, predictions=predictions[start : start + _CHUNK]
            )
        record_action(
            db,
            by=by,
            action="store answers of evaluation",
            subject=f"model {run.model_id}",
            new={
                "evaluation": evaluation.name,
                "condition": run.condition.value,
                "source": source,
                "answers": len(predictions),
                "without an answer": failed,
            },
            now=now,
        )
    return StoredAnswers(added=len(predictions), failed=failed)
