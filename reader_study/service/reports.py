"""Services for the report of a study, which is stored under a digest of its data and of the code.

A report is computed once for the same answers, protocol and code. A comparison with another model uses the
same report, because it changes no estimate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from sqlmodel import Session

from domain.errors import NotFound, NotNow, Refused
from domain.file_errors import describe_file_error
from domain.people import Action, Person, require
from domain.protocols import Protocol
from domain.questions import has_same_text
from domain.studies import Case, CaseKind, Exclusion, ReaderStudy
from domain.version import VERSION
from reader_study.release_keys import load_keys
from reader_study.report.report_data import ModelAnswers, ReportData
from reader_study.report.study_report import StudyReport
from release.folder import MANIFEST, hash_file
from storage.audit.contents import MARK_ANSWER, SUBMIT_READING
from storage.audit.entries import find_last_entry
from storage.evaluation.exams import load_demographics
from storage.quality.name_mappings import load_mapping
from storage.reader_study import studies as study_storage
from storage.reader_study.cases import hash_patient_data, list_blind_cases, list_cases, list_slots
from storage.reader_study.extraction_marks import list_extraction_marks
from storage.reader_study.marks import list_latest_marks
from storage.reader_study.predictions import (
    count_predicted_questions,
    count_predictions,
    iterate_predictions,
    list_model_names,
    list_models,
)
from storage.reader_study.readers import list_readers
from storage.reader_study.readings import count_readings, iterate_readings
from storage.reader_study.report_cache import find_report, find_report_size, save_report
from storage.release import releases
from storage.release.releases import ReleaseRecord
from storage.workspace import Workspace

#: The actions by which the data of a report change.
_DATA_ACTIONS = (
    "create study", "change protocol", "exclude from study", "import readings", "import predictions",
    "close study", "reopen study", SUBMIT_READING, MARK_ANSWER,
    "mark extraction",
)  # fmt: skip
#: The actions after which a report is computed again, also if only the readers or their profiles change.
_DIGEST_ACTIONS = (*_DATA_ACTIONS, "assign readers", "remove reader", "set reader profile")
_ROOT = Path(__file__).resolve().parents[2]
#: The files that compute a report: code, and the controlled names of the taxonomy with their headings.
_CODE_FILES = (
    "reader_study/report/**/*.py", "measures/**/*.py", "terminology/taxonomy.py", "terminology/taxonomy.toml",
    "terminology/regions.py",
)  # fmt: skip

#: Number of parsed reports that a process keeps: parsing the largest takes seconds.
_MAX_PARSED = 4


def load_report_digest(db: Session, *, by: Person, study: str, release: str | None = None) -> str:
    """Return the digest under which the report of the current data and code is stored.

    ``release`` is as for :func:`load_report_data`.

    Questions and answers, which can be hundreds of thousands, are not read: cases are frozen, answers are
    only appended, and every other change of a study has an audit entry. Patients of exams, their ages and
    sexes are read, because a later import may complete them.

    Raises:
        NotFound: the study does not exist.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = study_storage.load_study(db, name=study)
    versions = study_storage.list_protocols(db, study_id=loaded_study.id)
    models = _list_model_names(db, loaded_study, versions[-1].protocol)
    inputs: tuple[object, ...] = (
        loaded_study,
        [version.sha256 for version in versions],
        [replace(reader, guideline_read_at=None) for reader in list_readers(db, study_id=loaded_study.id)],
        study_storage.list_exclusions(db, study_id=loaded_study.id),
        count_readings(db, study_id=loaded_study.id),
        sorted(models.items()),
        sorted(count_predictions(db, model_ids=list(models)).items()),
        list_extraction_marks(db, model_ids=list(models)),
        find_last_entry(db, actions=_DIGEST_ACTIONS, subjects=_list_subjects(loaded_study)),
        hash_patient_data(db, study_id=loaded_study.id),
        load_mapping(db, dataset_id=loaded_study.dataset_id),
    )
    if release is not None:
        inputs = (*inputs, _load_release(db, loaded_study, release).manifest_sha256)
    return hashlib.sha256(f"{VERSION}\n{_compute_code_digest()}\n{inputs!r}".encode()).hexdigest()


def count_report_answers(db: Session, *, by: Person, study: str) -> int:
    """Return the number of readings and predictions of a study, including repeats and training cases.

    Raises:
        NotFound: the study does not exist.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = study_storage.load_study(db, name=study)
    protocol = study_storage.list_protocols(db, study_id=loaded_study.id)[-1].protocol
    numbers = [
        case.question_row_id
        for case in list_blind_cases(db, study_id=loaded_study.id)
        if case.kind is CaseKind.SCORED
    ]
    prediction_counts = count_predicted_questions(
        db, dataset_id=loaded_study.dataset_id, question_ids=numbers
    )
    model_names = _list_model_names(db, loaded_study, protocol)
    n_predictions = sum(count for model_id, count in prediction_counts.items() if model_id in model_names)
    return count_readings(db, study_id=loaded_study.id, revision=1) + n_predictions


def load_stored_report(
    *, by: Person, workspace: Workspace, digest: str, model: str | None = None
) -> StudyReport | None:
    """Load a stored report.

    Args:
        by: the acting person.
        workspace: the workspace in which reports are stored.
        digest: the digest from :func:`load_report_digest`.
        model: the model with which the readers are compared; None for the protocol's model.

    Returns:
        The report; None if it has not been computed, or was computed by a version with other tables.

    Raises:
        Refused: the study has no model with this name.
    """
    require(by, Action.RUN_STUDY)
    size = find_report_size(workspace, digest=digest)
    if size is None:
        return None
    try:
        report = _parse_report(workspace, digest, size)
    except (OSError, ValueError):  # deleted meanwhile, or written by a version with other tables
        return None
    return report.compare_with(model)


@lru_cache(maxsize=_MAX_PARSED)
def _parse_report(workspace: Workspace, digest: str, size: int) -> StudyReport:  # noqa: ARG001 - a file of another size is parsed again
    text = find_report(workspace, digest=digest)
    if text is None:
        raise FileNotFoundError(digest)
    return StudyReport.from_json(text)


def compute_report(
    *,
    workspace: Workspace,
    digest: str,
    data: ReportData,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Compute a report and store it. The function needs no database, so it can run in the background.

    Args:
        workspace: the workspace in which reports are stored.
        digest: the digest from :func:`load_report_digest`.
        data: the data from :func:`load_report_data`, read in the same transaction.
        progress: a function that is called with the completed fraction, 0 to 1.

    Raises:
        Refused: there is nothing to report yet.
        NotNow: the report cannot be stored.
    """
    report = _compute_report(data, progress)
    try:
        save_report(workspace, digest=digest, text=report.to_json())
    except OSError as error:
        raise NotNow(
            f"The report was computed but could not be stored. {describe_file_error(error)}"
        ) from error


def load_or_compute_report(  # allow writes-without-record: the cache contains only what can be computed again
    db: Session,
    *,
    by: Person,
    study: str,
    release: str | None = None,
    model: str | None = None,
    workspace: Workspace | None = None,
    progress: Callable[[float], None] | None = None,
) -> StudyReport:
    """Load the report of the current data, or compute and store it first.

    Args:
        db: a read-only session.
        by: the acting person.
        study: the name of the study.
        release: as for :func:`load_report_data`.
        model: the model with which the readers are compared; None for the protocol's model.
        workspace: the workspace in which reports are stored; None to compute the report without storing it.
        progress: a function that is called with the completed fraction, 0 to 1, during the computation.

    Raises:
        NotFound: the study does not exist.
        Refused: there is nothing to report yet, or the study has no model with this name.
    """
    digest = load_report_digest(db, by=by, study=study, release=release)
    if workspace is not None:
        report = load_stored_report(by=by, workspace=workspace, digest=digest, model=model)
        if report is not None:
            return report
    text = _compute_report(load_report_data(db, by=by, study=study, release=release), progress).to_json()
    if workspace is not None:
        with suppress(OSError):  # for example a full disk; the next call computes the report again
            save_report(workspace, digest=digest, text=text)
    return StudyReport.from_json(text).compare_with(model)


def _compute_report(data: ReportData, progress: Callable[[float], None] | None) -> StudyReport:
    from reader_study.report.report_builder import build_report  # noqa: PLC0415 - imports pandas, which is not needed at start

    return build_report(data, progress=progress)


@cache
def _compute_code_digest() -> str:
    """Return a digest of the code that computes reports, so that another version computes them again."""
    digest = hashlib.sha256()
    for pattern in _CODE_FILES:
        for path in sorted(_ROOT.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def load_report_data(db: Session, *, by: Person, study: str, release: str | None = None) -> ReportData:
    """Read the current data of a study's report: cases, readings, predictions and more.

    Args:
        db: a read-only session.
        by: the acting person.
        study: the name of the study.
        release: a release of the dataset, such as a corrected one; its questions replace the questions of the
            cases. None for the keys at the time when the study was created. Cases that the release does not
            have, or has with another stem or other options, are excluded from the analysis.

    Raises:
        NotFound: the study or the release does not exist.
        InvalidValue: a file of the release was changed.
        Refused: the manifest of the release was changed, or its private keys are missing.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = study_storage.load_study(db, name=study)
    cases = list_cases(db, study_id=loaded_study.id)
    exclusions = study_storage.list_exclusions(db, study_id=loaded_study.id)
    if release is not None:
        cases, release_exclusions = _replace_keys(db, loaded_study, cases, release=release)
        exclusions = (*exclusions, *release_exclusions)
    question_row_ids = [case.blind_case.question_row_id for case in cases if case.scored]
    versions = study_storage.list_protocols(db, study_id=loaded_study.id)
    protocol = versions[-1].protocol
    models, model_ids = [], []
    for model in list_models(db, dataset_id=loaded_study.dataset_id):
        if not protocol.includes_model(model.name):
            continue
        predictions = {
            prediction.question_row_id: prediction
            for prediction in iterate_predictions(db, model_id=model.id, question_ids=question_row_ids)
        }
        if predictions:
            model_ids.append(model.id)
            models.append(ModelAnswers(name=model.name, simulated=model.simulated, predictions=predictions))
    return ReportData(
        study=loaded_study,
        versions=versions,
        cases=cases,
        readers=list_readers(db, study_id=loaded_study.id),
        slots=list_slots(db, study_id=loaded_study.id),
        readings=tuple(iterate_readings(db, study_id=loaded_study.id)),
        models=tuple(models),
        models_without_answers=tuple(
            name for name in protocol.models or () if name not in {model.name for model in models}
        ),
        exclusions=exclusions,
        keys_of_release=release or "",
        marks=list_latest_marks(db, study_id=loaded_study.id),
        mapping=load_mapping(db, dataset_id=loaded_study.dataset_id),
        demographics=load_demographics(db, numbers={case.blind_case.exam_row_id for case in cases}),
        extraction_marks=list_extraction_marks(db, model_ids=model_ids),
        audit_head=find_last_entry(
            db,
            actions=_DATA_ACTIONS,
            subjects=_list_subjects(loaded_study),
        ),
    )


def _load_release(db: Session, study: ReaderStudy, name: str) -> ReleaseRecord:
    release = releases.find_release(db, dataset_id=study.dataset_id, name=name)
    if release is None:
        raise NotFound(f"The dataset of study {study.name} has no release {name!r}. Choose another.")
    return release


def _replace_keys(
    db: Session, study: ReaderStudy, cases: tuple[Case, ...], *, release: str
) -> tuple[tuple[Case, ...], list[Exclusion]]:
    """Return the cases with the questions of a release, and exclusions of cases without such a question."""
    record = _load_release(db, study, release)
    manifest = record.folder / MANIFEST
    if not manifest.is_file() or hash_file(manifest)[0] != record.manifest_sha256:
        raise Refused(f"{manifest} is missing, or was changed after its creation. Restore it from a backup.")
    released_questions = load_keys(record.folder)
    new_cases, exclusions = [], []
    for case in cases:
        released = released_questions.get(case.blind_case.question_id)
        if released is not None and has_same_text(released.question, case.question):
            new_cases.append(replace(case, question=released.question))
            continue
        new_cases.append(case)
        reason = "is not in" if released is None else "has another stem or other options in"
        exclusions.append(
            Exclusion(
                study_id=study.id,
                case_id=case.blind_case.id,
                reader_id=None,
                reason=f"{reason} release {release}",
                excluded_by=None,
                excluded_at=record.made_at,
            )
        )
    return tuple(new_cases), exclusions


def _list_subjects(study: ReaderStudy) -> tuple[str, ...]:
    """Return the subjects of the audit entries about the data of a report."""
    return f"study {study.id}", f"dataset {study.dataset_id} model"


def _list_model_names(db: Session, study: ReaderStudy, protocol: Protocol) -> dict[int, str]:
    """Return the names of the models that take part in the study, by id."""
    names = list_model_names(db, dataset_id=study.dataset_id)
    return {model_id: name for model_id, name in names.items() if protocol.includes_model(name)}
