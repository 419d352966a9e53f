"""Services that import a model's predictions from a file (all of them, or none), and that list models."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import InvalidValue, NotFound, Refused
from domain.people import Action, Person, require
from domain.problems import Refusal
from domain.readings import Prediction
from domain.studies import StudyState
from reader_study.extraction import FAILED
from reader_study.predictions_file import PredictionRecord, QuestionFormat, Refusals, build_prediction
from reader_study.predictions_process import read_predictions_in_process
from reader_study.service.study_models import choose_models
from storage.intake.bulk import load_record_hashes
from storage.intake.questions import load_questions
from storage.reader_study import predictions as prediction_storage
from storage.reader_study.cases import list_blind_cases, load_question_row_ids
from storage.reader_study.predictions import ModelRecord
from storage.reader_study.studies import list_studies, load_current_protocol, load_study
from storage.sampling.frames import list_dataset_names, load_dataset_row_id

_CHUNK = 500
#: The maximum length of the name of a model, in characters.
MAX_NAME_LENGTH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedPredictions:
    """The result of an import. If there are ``refusals``, nothing was imported.

    ``failed`` counts the predictions from which no answer could be extracted; they count as incorrect.
    ``rules`` counts the uses of each extraction rule. ``refused`` counts all refused records, and
    ``refusals`` has the first of them. ``study`` is the study for which the import chose the model; None for
    an import into a dataset. ``study_cases`` has the number of this study's cases that the model has
    answered, and the number of all its cases.
    """

    model: str
    dataset: str
    predictions: int
    failed: int
    rules: dict[str, int]
    refusals: tuple[Refusal, ...]
    refused: int
    study: str | None = None
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

    An import into a study chooses the model for the study: it adds a version of the protocol with the model.
    Without ``study`` and ``dataset``, the import is for the only dataset, and for its only open study if
    there is one.

    Answers are extracted from free text by :mod:`reader_study.extraction`. If the question is a case of the
    study, the options of the case are used. A question that the model has answered before is refused:
    predictions are never replaced.

    Args:
        db: a session for writing.
        by: the acting person.
        path: a file in JSON Lines (overread.prediction/1), which a separate process parses.
        model: the name of the model.
        study: the name of the study; None to import into a dataset.
        dataset: the name of the dataset; None for the only dataset.
        simulated: whether the model is marked as simulated.
        file_name: the user's name of the file; "" for the name in ``path``.
        now: the current time.
        progress: a function that is called with the number of bytes read.

    Returns:
        The counts, or the refusals. Refusals raise no exception.

    Raises:
        NotFound: the study or the dataset does not exist.
        InvalidValue: the name of the model is not valid, the study has another dataset, or there are several
            datasets and neither study nor dataset is named.
        Refused: a model with this name exists, and only one of the two is simulated.
    """
    require(by, Action.RUN_STUDY)
    model = model.strip()
    if not model or len(model) > MAX_NAME_LENGTH or not model.isprintable():
        raise InvalidValue("model", f"must have a name of 1 to {MAX_NAME_LENGTH} printable characters")
    if study is None and dataset is None:
        study = _find_only_open_study(db)
    dataset_name, dataset_id, cases = _load_dataset_and_cases(db, study=study, dataset=dataset)
    existing_model = {
        entry.name: entry for entry in prediction_storage.list_models(db, dataset_id=dataset_id)
    }.get(model)
    if existing_model is not None and existing_model.simulated != simulated:
        raise Refused(
            f"A model named {model} already exists, and only one of the two models is simulated. Use "
            "another name."
        )
    answered_before = (
        prediction_storage.load_predicted_questions(db, model_id=existing_model.id)
        if existing_model
        else frozenset()
    )
    file = file_name or path.name
    refusals = Refusals(file=file)
    records = _read_records(path, model=model, file=file, refusals=refusals, progress=progress)
    new_predictions: list[Prediction] = []
    for start in range(0, len(records), _CHUNK):
        batch = records[start : start + _CHUNK]
        questions = _load_question_formats(
            db,
            dataset_id=dataset_id,
            cases=cases,
            keys=[prediction_record.question_id for prediction_record in batch],
        )
        for prediction_record in batch:
            try:
                new_predictions.append(
                    build_prediction(
                        prediction_record,
                        questions.get(prediction_record.question_id),
                        answered_before,
                        dataset_name,
                        model,
                    )
                )
            except InvalidValue as error:
                refusals.add(str(prediction_record.line), error.field, error.reason)
    if not refusals.count and not new_predictions:
        refusals.add("1", "", "contains no predictions")
    if refusals.count:
        return ImportedPredictions(
            model=model, dataset=dataset_name, predictions=0, failed=0, rules={},
            refusals=refusals.sorted_by_line, refused=refusals.count,
        )  # fmt: skip
    model_id = prediction_storage.get_or_add_model(
        db, dataset_id=dataset_id, name=model, simulated=simulated, now=now
    )
    rules = Counter(prediction.rule for prediction in new_predictions)
    _save_run(
        db,
        by=by,
        path=path,
        file=file,
        dataset_id=dataset_id,
        model_id=model_id,
        new_predictions=new_predictions,
        now=now,
    )
    outcome = ImportedPredictions(
        model=model, dataset=dataset_name, predictions=len(new_predictions), failed=rules[FAILED],
        rules=dict(sorted(rules.items())), refusals=(), refused=0,
    )  # fmt: skip
    if study is None:
        return outcome
    answered = prediction_storage.load_predicted_questions(db, model_id=model_id)
    case_question_row_ids = {question.number for question in cases.values()}
    if not load_current_protocol(db, study_id=load_study(db, name=study).id).protocol.includes_model(model):
        choose_models(
            db, by=by, study=study, add=[model], reason=f"predictions imported from {file}", now=now
        )
    return replace(
        outcome,
        study=study,
        study_cases=(len(case_question_row_ids & answered), len(case_question_row_ids)),
    )


def _find_only_open_study(db: Session) -> str | None:
    """Return the name of the only open study, if there is only one dataset; otherwise None."""
    if len(list_dataset_names(db)) != 1:
        return None
    names = [study.name for study in list_studies(db) if study.state is StudyState.OPEN]
    return names[0] if len(names) == 1 else None


def _read_records(
    path: Path, *, model: str, file: str, refusals: Refusals, progress: Callable[[int], None] | None
) -> list[PredictionRecord]:
    """Return the valid records, and add the others to the refusals."""
    records: list[PredictionRecord] = []
    for result, bytes_read in read_predictions_in_process(path, model=model, file=file):
        if isinstance(result, Refusal):
            refusals.add(result.record, result.field, result.reason)
        else:
            records.append(result)
        if progress is not None:
            progress(bytes_read)
    return records


def _save_run(
    db: Session,
    *,
    by: Person,
    path: Path,
    file: str,
    dataset_id: int,
    model_id: int,
    new_predictions: list[Prediction],
    now: datetime,
) -> None:
    """Store the run, its predictions, and the audit entry."""
    failed = sum(prediction.failed for prediction in new_predictions)
    digest = _hash_file(path)
    run_id = prediction_storage.add_run(
        db,
        model_id=model_id,
        file_name=file,
        file_sha256=digest,
        predictions=len(new_predictions),
        failed=failed,
        refused=0,
        by=by.id or None,
        now=now,
    )
    for start in range(0, len(new_predictions), _CHUNK):
        batch = [
            replace(prediction, model_id=model_id) for prediction in new_predictions[start : start + _CHUNK]
        ]
        prediction_storage.add_predictions(db, run_id=run_id, predictions=batch)
    record_action(
        db,
        by=by,
        action="import predictions",
        subject=f"dataset {dataset_id} model {model_id}",
        new={"file": file, "sha256": digest, "predictions": len(new_predictions), "failed": failed},
        now=now,
    )


def list_models(
    db: Session, *, by: Person, study: str | None = None, dataset: str | None = None
) -> list[ModelRecord]:
    """Return the models with predictions, sorted by dataset and name: all models, or one dataset's models.

    Args:
        db: a read-only session.
        by: the acting person.
        study: the name of a study; only models with predictions on its dataset are returned.
        dataset: the name of a dataset; only models with predictions on it are returned.

    Raises:
        NotFound: the study or the dataset does not exist.
        InvalidValue: the study has another dataset.
    """
    require(by, Action.RUN_STUDY)
    if study is None and dataset is None:
        return prediction_storage.list_models(db)
    _, dataset_id, _ = _load_dataset_and_cases(db, study=study, dataset=dataset)
    return prediction_storage.list_models(db, dataset_id=dataset_id)


def _load_dataset_and_cases(
    db: Session, *, study: str | None, dataset: str | None
) -> tuple[str, int, dict[str, QuestionFormat]]:
    """Return the name and the database id of the dataset, and the cases of the study by question id."""
    if study is not None:
        loaded_study = load_study(db, name=study)
        if dataset is not None and dataset != loaded_study.source.dataset:
            raise InvalidValue(
                "dataset", f"the study {study} uses the dataset {loaded_study.source.dataset}, not {dataset}"
            )
        cases = {
            case.question_id: QuestionFormat(
                number=case.question_row_id, format=case.format, options=case.options
            )
            for case in list_blind_cases(db, study_id=loaded_study.id)
        }
        return loaded_study.source.dataset, loaded_study.dataset_id, cases
    names = list_dataset_names(db)
    if dataset is None:
        if len(names) != 1:
            raise InvalidValue(
                "dataset",
                f"state a dataset or a study. Datasets: {', '.join(names) or 'none; import questions first'}",
            )
        dataset = names[0]
    return dataset, load_dataset_row_id(db, name=dataset), {}


def _load_question_formats(
    db: Session, *, dataset_id: int, cases: dict[str, QuestionFormat], keys: list[str]
) -> dict[str, QuestionFormat]:
    """Return the formats of the questions with these ids. Unknown ids are omitted."""
    questions = {key: cases[key] for key in keys if key in cases}
    other_keys = [key for key in keys if key not in questions]
    try:
        numbers = load_question_row_ids(db, dataset_id=dataset_id, keys=other_keys)
    except NotFound:
        existing_keys = set(load_record_hashes(db, dataset_id=dataset_id, keys=other_keys))
        numbers = load_question_row_ids(
            db, dataset_id=dataset_id, keys=[key for key in other_keys if key in existing_keys]
        )
    for number, question in load_questions(db, question_ids=numbers.values()):
        questions[question.id] = QuestionFormat(
            number=number, format=question.format, options=question.options
        )
    return questions


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
