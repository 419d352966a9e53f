"""Services for the report of a study, which is stored under a hash of its data and of the code.

A report is computed once for the same answers, protocol and code. A comparison with another model uses the
same report, because it changes no estimate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from sqlmodel import Session

from domain.errors import NotNow
from domain.file_errors import describe_file_error
from domain.people import Action, Person, require
from domain.version import VERSION
from reader_study.report.report_data import ModelAnswers, ReportData
from reader_study.report.study_report import StudyReport
from storage.audit.contents import MARK_ANSWER, SUBMIT_READING
from storage.audit.entries import find_last_entry
from storage.reader_study import studies as stored
from storage.reader_study.cases import list_cases, list_slots
from storage.reader_study.extraction_marks import list_extraction_marks
from storage.reader_study.marks import list_latest_marks
from storage.reader_study.predictions import iterate_predictions, list_models
from storage.reader_study.readers import list_readers
from storage.reader_study.readings import iterate_readings
from storage.reader_study.report_cache import find_report, save_report
from storage.workspace import Workspace

#: The actions by which the data of a report change.
_DATA_ACTIONS = (
    "create study", "change protocol", "exclude from study", "import readings", "import predictions",
    "close study", "reopen study", SUBMIT_READING, MARK_ANSWER,
    "mark extraction",
)  # fmt: skip
_CODE_FOLDERS = (
    Path(__file__).resolve().parents[1] / "report",
    Path(__file__).resolve().parents[2] / "measures",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportState:
    """The current data of a report.

    ``digest`` is the hash of data and code under which the report is stored.
    """

    digest: str
    data: ReportData = field(repr=False)

    @property
    def n_answers(self) -> int:
        """The number of readings and predictions, including repeats and training cases."""
        return len(self.data.readings) + sum(len(model.predictions) for model in self.data.models)


def load_report_state(db: Session, *, by: Person, study: str) -> ReportState:
    """Read the current data of a study's report.

    Raises:
        NotFound: the study does not exist.
    """
    require(by, Action.RUN_STUDY)
    data = _load_data(db, study=study)
    digest = hashlib.sha256(f"{VERSION}\n{_code_digest()}\n{data!r}".encode()).hexdigest()
    return ReportState(digest=digest, data=data)


def load_stored_report(
    *, by: Person, workspace: Workspace, digest: str, model: str | None = None
) -> StudyReport | None:
    """Load a stored report.

    Args:
        by: the acting person.
        workspace: the workspace in which reports are stored.
        digest: the digest from :func:`load_report_state`.
        model: the model with which the readers are compared; None for the protocol's model.

    Returns:
        The report; None if it has not been computed, or was computed by a version with other tables.

    Raises:
        Refused: the study has no model with this name.
    """
    require(by, Action.RUN_STUDY)
    text = find_report(workspace, digest=digest)
    if text is None:
        return None
    try:
        report = StudyReport.from_json(text)
    except ValueError:  # written by a version with other tables; the caller computes the report again
        return None
    return report.compare_with(model)


def compute_report(
    *, workspace: Workspace, state: ReportState, progress: Callable[[float], None] | None = None
) -> None:
    """Compute a report and store it. The function needs no database, so it can run in the background.

    Args:
        workspace: the workspace in which reports are stored.
        state: the state from :func:`load_report_state`.
        progress: a function that is called with the completed fraction, 0 to 1.

    Raises:
        Refused: there is nothing to report yet.
        NotNow: the report cannot be stored.
    """
    report = _compute_report(state.data, progress)
    try:
        save_report(workspace, digest=state.digest, text=report.to_json())
    except OSError as error:
        raise NotNow(
            f"The report was computed but could not be stored. {describe_file_error(error)}"
        ) from error


def load_or_compute_report(  # allow writes-without-record: the cache contains only what can be computed again
    db: Session,
    *,
    by: Person,
    study: str,
    model: str | None = None,
    workspace: Workspace | None = None,
    progress: Callable[[float], None] | None = None,
) -> StudyReport:
    """Load the report of the current data, or compute and store it first.

    Args:
        db: a read-only session.
        by: the acting person.
        study: the name of the study.
        model: the model with which the readers are compared; None for the protocol's model.
        workspace: the workspace in which reports are stored; None to compute the report without storing it.
        progress: a function that is called with the completed fraction, 0 to 1, during the computation.

    Raises:
        NotFound: the study does not exist.
        Refused: there is nothing to report yet, or the study has no model with this name.
    """
    state = load_report_state(db, by=by, study=study)
    if workspace is not None:
        report = load_stored_report(by=by, workspace=workspace, digest=state.digest, model=model)
        if report is not None:
            return report
    text = _compute_report(state.data, progress).to_json()
    if workspace is not None:
        with suppress(OSError):  # for example a full disk; the next call computes the report again
            save_report(workspace, digest=state.digest, text=text)
    return StudyReport.from_json(text).compare_with(model)


def _compute_report(data: ReportData, progress: Callable[[float], None] | None) -> StudyReport:
    from reader_study.report.report_builder import build_report  # noqa: PLC0415 - imports pandas, which is not needed at start

    return build_report(data, progress=progress)


@cache
def _code_digest() -> str:
    """Return a digest of the code that computes reports, so that another version computes them again."""
    digest = hashlib.sha256()
    for folder in _CODE_FOLDERS:
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _load_data(db: Session, *, study: str) -> ReportData:
    loaded_study = stored.load_study(db, name=study)
    cases = list_cases(db, study_id=loaded_study.id)
    question_numbers = [case.blind_case.question_number for case in cases if case.scored]
    versions = stored.list_protocols(db, study_id=loaded_study.id)
    protocol = versions[-1].protocol
    models, model_ids = [], []
    for model in list_models(db, dataset_id=loaded_study.dataset_id):
        if not protocol.includes_model(model.name):
            continue
        predictions = {
            prediction.question_number: prediction
            for prediction in iterate_predictions(db, model_id=model.id, question_ids=question_numbers)
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
        exclusions=stored.list_exclusions(db, study_id=loaded_study.id),
        marks=list_latest_marks(db, study_id=loaded_study.id),
        extraction_marks=list_extraction_marks(db, model_ids=model_ids),
        audit_head=find_last_entry(
            db,
            actions=_DATA_ACTIONS,
            subjects=(f"study {loaded_study.id}", f"dataset {loaded_study.dataset_id} model"),
        ),
    )
