"""Services that list the models with predictions for a study, and that choose which models take part."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session

from domain.errors import InvalidValue
from domain.people import Action, Person, require
from domain.protocols import ProtocolVersion
from domain.studies import CaseKind
from reader_study.service.protocols import change_protocol
from storage.reader_study import studies as study_storage
from storage.reader_study.cases import list_blind_cases
from storage.reader_study.predictions import count_predicted_questions, list_models


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyModel:
    """A model that may take part in a study. It has answered ``answered`` of ``cases`` scored cases.

    ``chosen`` is True if it takes part. ``predictions`` is 0 if it was chosen before its predictions were
    imported.
    """

    name: str
    simulated: bool
    predictions: int
    failed: int
    answered: int
    cases: int
    chosen: bool


def list_study_models(db: Session, *, by: Person, study: str) -> tuple[StudyModel, ...]:
    """Return the models that have predictions on the study's dataset or are in its protocol, by name.

    Raises:
        NotFound: the study does not exist.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = study_storage.load_study(db, name=study)
    protocol = study_storage.load_current_protocol(db, study_id=loaded_study.id).protocol
    question_row_ids = [
        case.question_row_id
        for case in list_blind_cases(db, study_id=loaded_study.id)
        if case.kind is CaseKind.SCORED
    ]
    answered = count_predicted_questions(
        db, dataset_id=loaded_study.dataset_id, question_ids=question_row_ids
    )
    imported_models = {
        model.name: StudyModel(
            name=model.name,
            simulated=model.simulated,
            predictions=model.predictions,
            failed=model.failed,
            answered=answered.get(model.id, 0),
            cases=len(question_row_ids),
            chosen=protocol.includes_model(model.name),
        )
        for model in list_models(db, dataset_id=loaded_study.dataset_id)
    }
    names_in_protocol = {*(protocol.models or ()), *filter(None, [protocol.model])}
    awaited_models = {
        name: StudyModel(
            name=name,
            simulated=False,
            predictions=0,
            failed=0,
            answered=0,
            cases=len(question_row_ids),
            chosen=True,
        )
        for name in names_in_protocol - set(imported_models)
    }
    return tuple(sorted((imported_models | awaited_models).values(), key=lambda model: model.name))


def choose_models(
    db: Session,
    *,
    by: Person,
    study: str,
    add: Collection[str] = (),
    remove: Collection[str] = (),
    reason: str = "",
    now: datetime,
) -> ProtocolVersion:
    """Choose which models take part, as a new version of the protocol. Locks the study's row.

    Args:
        db: a session for writing.
        by: the acting person.
        study: the name of the study.
        add: the names of models to add, which need no predictions yet.
        remove: the names of models to remove.
        reason: the reason, required after the first answer.
        now: the current time.

    Returns:
        The new version; the current version if the choice does not change.

    Raises:
        NotFound: the study does not exist.
        InvalidValue: a model to remove does not take part, or is the model of the primary comparison.
        Refused: the study has answers, and the reason is missing.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = study_storage.load_study(db, name=study, lock=True)
    current = study_storage.load_current_protocol(db, study_id=loaded_study.id)
    protocol = current.protocol
    chosen_names = protocol.models
    if chosen_names is None:  # in older protocols, every model with predictions takes part
        chosen_names = tuple(
            model.name
            for model in list_study_models(db, by=by, study=study)
            if model.answered and model.chosen
        )
    for name in remove:
        if name == protocol.model:
            raise InvalidValue("model", f"{name!r} is the model of the protocol's primary comparison")
        if name not in chosen_names:
            raise InvalidValue(
                "model", f"{name!r} is not in the study. Models: {', '.join(chosen_names) or 'none'}"
            )
    names = {*chosen_names, *(name for name in add if name != protocol.model)} - set(remove)
    if protocol.models is not None and names == set(protocol.models):
        return current
    return change_protocol(
        db,
        by=by,
        study=study,
        protocol=replace(protocol, models=tuple(sorted(names))),
        reason=reason,
        now=now,
    )
