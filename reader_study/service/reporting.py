"""Services for the report of a study, which is stored under the hash of the data it is computed from.

A report is computed once for the same answers, protocol and code. The comparison with another model uses the
same report, because it changes no figure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from sqlmodel import Session

from domain.errors import NotFound
from domain.people import Action, Person, require
from domain.version import VERSION
from reader_study.report.material import Material, ModelAnswers
from reader_study.report.study_report import StudyReport
from storage.reader_study import studies as stored
from storage.reader_study.cases import cases_of, slots_of
from storage.reader_study.kept_reports import find_report, keep_report
from storage.reader_study.predictions import list_models, predictions_on
from storage.reader_study.readers import readers_of
from storage.reader_study.readings import readings_of
from storage.workspace import Workspace

_ROOMS = (Path(__file__).resolve().parents[1] / "report", Path(__file__).resolve().parents[2] / "measures")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportState:
    """The current data of a report; ``digest`` is the hash of data and code, under which it is stored."""

    digest: str
    material: Material = field(repr=False)

    @property
    def answers(self) -> int:
        """The number of readings and predictions, including repeats and training cases."""
        return len(self.material.readings) + sum(len(each.predictions) for each in self.material.models)


def report_state(db: Session, *, by: Person, study: str) -> ReportState:
    """Read the current data of a study's report.

    Raises:
        NotFound: there is no such study.
    """
    require(by, Action.RUN_STUDY)
    material = _material(db, study=study)
    digest = hashlib.sha256(f"{VERSION}\n{_code()}\n{material!r}".encode()).hexdigest()
    return ReportState(digest=digest, material=material)


def kept_report(
    *, by: Person, workspace: Workspace, digest: str, model: str | None = None
) -> StudyReport | None:
    """Load a stored report.

    Args:
        by: who asks.
        workspace: where reports are stored.
        digest: of :func:`report_state`.
        model: the model that the readers are compared with; None for the protocol's.

    Returns:
        None if the report was not computed yet, or by a version with other tables.

    Raises:
        Refused: there is no such model.
    """
    require(by, Action.RUN_STUDY)
    text = find_report(workspace, digest=digest)
    if text is None:
        return None
    try:
        kept = StudyReport.from_text(text)
    except ValueError:  # written by a version with other tables: it is computed again
        return None
    return kept.against(model)


def compute_report(
    *, workspace: Workspace, state: ReportState, progress: Callable[[float], None] | None = None
) -> None:
    """Compute a report and store it. Needs no database, so it can run in the background.

    Args:
        workspace: where reports are stored.
        state: of :func:`report_state`.
        progress: called with the fraction done, 0 to 1.

    Raises:
        Refused: there is nothing to report yet.
    """
    found = _compute(state.material, progress)
    keep_report(workspace, digest=state.digest, text=found.text())


def study_report(  # allow writes-without-record: the cache contains only what can be computed again
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
        db: a session that reads.
        by: who asks.
        study: its name.
        model: the model that the readers are compared with; None for the protocol's.
        workspace: where reports are stored; None to compute it without storing.
        progress: called with the fraction done, 0 to 1, if it is computed.

    Raises:
        NotFound: there is no such study.
        Refused: there is nothing to report yet, or no such model.
    """
    state = report_state(db, by=by, study=study)
    if workspace is None:
        return StudyReport.from_text(_compute(state.material, progress).text()).against(model)
    found = kept_report(by=by, workspace=workspace, digest=state.digest, model=model)
    if found is None:
        compute_report(workspace=workspace, state=state, progress=progress)
        found = kept_report(by=by, workspace=workspace, digest=state.digest, model=model)
    if found is None:
        raise NotFound(f"The report of {study} was computed and is not where it was kept. Ask again.")
    return found


def _compute(material: Material, progress: Callable[[float], None] | None) -> StudyReport:
    from reader_study.report.whole import report_of  # noqa: PLC0415 - imports pandas, which is not needed at start

    return report_of(material, progress=progress)


@cache
def _code() -> str:
    """A digest of the code that computes reports, so that another version computes them anew."""
    digest = hashlib.sha256()
    for room in _ROOMS:
        for path in sorted(room.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _material(db: Session, *, study: str) -> Material:
    found = stored.load_study(db, name=study)
    cases = cases_of(db, study_id=found.id)
    numbers = [case.shown.question_number for case in cases if case.scored]
    models = []
    for each in list_models(db, dataset_id=found.dataset_id):
        predictions = {
            one.question_number: one for one in predictions_on(db, model_id=each.id, question_ids=numbers)
        }
        if predictions:
            models.append(ModelAnswers(name=each.name, simulated=each.simulated, predictions=predictions))
    return Material(
        study=found,
        versions=stored.protocols_of(db, study_id=found.id),
        cases=cases,
        readers=readers_of(db, study_id=found.id),
        slots=slots_of(db, study_id=found.id),
        readings=tuple(readings_of(db, study_id=found.id)),
        models=tuple(models),
        exclusions=stored.exclusions_of(db, study_id=found.id),
    )
