"""The report of a study: its material is fetched, and made into records."""

from __future__ import annotations

from sqlmodel import Session

from domain.people import Action, Person, require
from reader_study.report.material import Material, ModelAnswers
from reader_study.report.whole import StudyReport, report_of
from storage import studies as stored
from storage.cases import cases_of, slots_of
from storage.predictions import list_models, predictions_on
from storage.readings import readings_of
from storage.study_readers import readers_of


def study_report(db: Session, *, by: Person, study: str, model: str | None = None) -> StudyReport:
    """Every figure of the study, over the readings and predictions that are in now.

    Args:
        study: its name.
        model: the one that the others are compared with; None for the protocol's.

    Raises:
        NotFound: no study of that name.
        Refused: nothing to report yet, or no such model.
    """
    require(by, Action.RUN_STUDY)
    return report_of(_material(db, study=study), model=model)


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
