"""Services for importing predictions of models from a file (all of them, or none) and listing models."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from sqlmodel import Session

from accounts.service.audit import record
from domain.errors import InvalidValue, NotFound, Refused
from domain.people import Action, Person, require
from domain.problems import Refusal
from domain.readings import Prediction
from reader_study.extraction import FAILED
from reader_study.predictions_file import AskedQuestion, PredictionRecord, Refusals, prediction_of_record
from reader_study.predictions_process import guarded_predictions
from storage.intake.bulk import known_questions
from storage.intake.questions import load_questions
from storage.reader_study import predictions as stored
from storage.reader_study.cases import blind_cases_of, question_numbers
from storage.reader_study.predictions import KnownModel
from storage.reader_study.studies import load_study
from storage.sampling.frames import dataset_names, dataset_number

_CHUNK = 500
#: The longest name of a model, in characters.
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedPredictions:
    """The result of an import; if there are ``refusals``, nothing was imported.

    ``failed``: predictions without an answer that could be extracted; they count as incorrect. ``rules``: how
    often each extraction rule matched. ``refused`` counts all refused records, ``refusals`` contains the
    first ones. ``study_cases``: the number of the study's cases that the model has answered, and of all; None
    without a study.
    """

    model: str
    dataset: str
    predictions: int
    failed: int
    rules: dict[str, int]
    refusals: tuple[Refusal, ...]
    refused: int
    study_cases: tuple[int, int] | None = None


def import_predictions(
    db: Session,
    *,
    by: Person,
    path: Path,
    model: str,
    study: str | None = None,
    dataset: str | None = None,
    simulated: bool = False,
    file_name: str = "",
    now: datetime,
    progress: Callable[[int], None] | None = None,
) -> ImportedPredictions:
    """Import the predictions of one model on the questions of a dataset, or of the dataset of a study.

    Answers are extracted from free text by :mod:`reader_study.extraction`, with the options of the study's
    case if there is one. A question that the model has answered before is refused: predictions are never
    replaced.

    Args:
        db: a session that writes.
        by: who acts.
        path: JSON Lines, overread.prediction/1; parsed in a separate process.
        model: its name.
        study: name of a study; None for a dataset.
        dataset: its name; None for the only dataset.
        simulated: whether the model is marked as simulated.
        file_name: the user's name of the file; "" for that of the path.
        now: the time.
        progress: called with the number of bytes read.

    Returns:
        The counts, or the refusals; a refusal is not an exception.

    Raises:
        NotFound: there is no such study or dataset.
        InvalidValue: the model's name is not allowed, the dataset is not the study's, or neither study nor
            dataset is named and there are several datasets.
        Refused: a model of that name exists and only one of the two is simulated.
    """
    require(by, Action.RUN_STUDY)
    model = model.strip()
    if not model or len(model) > LONGEST_NAME or not model.isprintable():
        raise InvalidValue("model", f"needs a name of 1 to {LONGEST_NAME} printable characters")
    name, dataset_id, cases = _asked_of(db, study=study, dataset=dataset)
    known = {each.name: each for each in stored.list_models(db, dataset_id=dataset_id)}.get(model)
    if known is not None and known.simulated != simulated:
        raise Refused(f"A model of the name {model} is there already, and one of the two is simulated.")
    before = stored.answered_questions(db, model_id=known.id) if known else frozenset()
    file = file_name or path.name
    refusals = Refusals(file=file)
    records = _records(path, model=model, file=file, refusals=refusals, progress=progress)
    made: list[Prediction] = []
    for start in range(0, len(records), _CHUNK):
        some = records[start : start + _CHUNK]
        asked = _questions(db, dataset_id=dataset_id, cases=cases, keys=[each.question_id for each in some])
        for each in some:
            try:
                made.append(prediction_of_record(each, asked.get(each.question_id), before, name, model))
            except InvalidValue as error:
                refusals.add(str(each.line), error.field, error.reason)
    if not refusals.count and not made:
        refusals.add("1", "", "holds no prediction")
    if refusals.count:
        return ImportedPredictions(
            model=model, dataset=name, predictions=0, failed=0, rules={}, refusals=refusals.sorted,
            refused=refusals.count,
        )  # fmt: skip
    model_id = stored.model_number(db, dataset_id=dataset_id, name=model, simulated=simulated, now=now)
    rules = Counter(each.rule for each in made)
    _land(db, by=by, path=path, file=file, dataset_id=dataset_id, model_id=model_id, made=made, now=now)
    outcome = ImportedPredictions(
        model=model, dataset=name, predictions=len(made), failed=rules[FAILED],
        rules=dict(sorted(rules.items())), refusals=(), refused=0,
    )  # fmt: skip
    if study is None:
        return outcome
    answered = stored.answered_questions(db, model_id=model_id)
    numbers = {each.number for each in cases.values()}
    return replace(outcome, study_cases=(len(numbers & answered), len(numbers)))


def _records(
    path: Path, *, model: str, file: str, refusals: Refusals, progress: Callable[[int], None] | None
) -> list[PredictionRecord]:
    """The valid records; others are added to the refusals."""
    records: list[PredictionRecord] = []
    for found, so_far in guarded_predictions(path, model=model, file=file):
        if isinstance(found, Refusal):
            refusals.add(found.record, found.field, found.reason)
        else:
            records.append(found)
        if progress is not None:
            progress(so_far)
    return records


def _land(
    db: Session,
    *,
    by: Person,
    path: Path,
    file: str,
    dataset_id: int,
    model_id: int,
    made: list[Prediction],
    now: datetime,
) -> None:
    """Store the run, its predictions, and the audit entry."""
    failed = sum(each.failed for each in made)
    digest = _sha256(path)
    run_id = stored.add_run(
        db, model_id=model_id, file_name=file, file_sha256=digest, predictions=len(made), failed=failed,
        refused=0, by=by.id or None, now=now,
    )  # fmt: skip
    for start in range(0, len(made), _CHUNK):
        some = [replace(each, model_id=model_id) for each in made[start : start + _CHUNK]]
        stored.add_predictions(db, run_id=run_id, predictions=some)
    record(
        db,
        by=by,
        what="import predictions",
        subject=f"dataset {dataset_id} model {model_id}",
        new={"file": file, "sha256": digest, "predictions": len(made), "failed": failed},
        now=now,
    )


def list_models(
    db: Session, *, by: Person, study: str | None = None, dataset: str | None = None
) -> list[KnownModel]:
    """The models with predictions, by dataset and name: all, or those on one dataset.

    Args:
        db: a session that reads.
        by: who asks.
        study: only models on the dataset of this study.
        dataset: only models on this dataset.

    Raises:
        NotFound: there is no such study or dataset.
        InvalidValue: the dataset is not the study's.
    """
    require(by, Action.RUN_STUDY)
    if study is None and dataset is None:
        return stored.list_models(db)
    _, dataset_id, _ = _asked_of(db, study=study, dataset=dataset)
    return stored.list_models(db, dataset_id=dataset_id)


def _asked_of(
    db: Session, *, study: str | None, dataset: str | None
) -> tuple[str, int, dict[str, AskedQuestion]]:
    """Name and number of the dataset, and the study's cases by the question's id."""
    if study is not None:
        found = load_study(db, name=study)
        if dataset is not None and dataset != found.source.dataset:
            raise InvalidValue("dataset", f"the study {study} is on {found.source.dataset}, not {dataset}")
        cases = {
            case.question_id: AskedQuestion(
                number=case.question_number, format=case.format, options=case.options
            )
            for case in blind_cases_of(db, study_id=found.id)
        }
        return found.source.dataset, found.dataset_id, cases
    names = dataset_names(db)
    if dataset is None:
        if len(names) != 1:
            raise InvalidValue(
                "dataset",
                f"name one, or a study; there are {', '.join(names) or 'none yet: import questions'}",
            )
        dataset = names[0]
    return dataset, dataset_number(db, name=dataset), {}


def _questions(
    db: Session, *, dataset_id: int, cases: dict[str, AskedQuestion], keys: list[str]
) -> dict[str, AskedQuestion]:
    """The properties of the questions with these ids; ids without a question are left out."""
    asked = {key: cases[key] for key in keys if key in cases}
    others = [key for key in keys if key not in asked]
    try:
        numbers = question_numbers(db, dataset_id=dataset_id, keys=others)
    except NotFound:
        there = set(known_questions(db, dataset_id=dataset_id, keys=others))
        numbers = question_numbers(db, dataset_id=dataset_id, keys=[key for key in others if key in there])
    for number, question in load_questions(db, question_ids=numbers.values()):
        asked[question.id] = AskedQuestion(number=number, format=question.format, options=question.options)
    return asked


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
