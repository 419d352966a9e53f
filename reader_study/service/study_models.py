"""Services for the models of a study: which have predictions on its cases, and which take part."""

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
from storage.reader_study import studies as stored
from storage.reader_study.cases import list_blind_cases
from storage.reader_study.predictions import count_predicted_questions, list_models


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyModel:
    """A model on the dataset of a study; it has answered ``answered`` of the study's ``cases`` scored cases.

    ``chosen``: it takes part in the study. ``predictions`` is 0 if it was named before it had any.
    """

    name: str
    simulated: bool
    predictions: int
    failed: int
    answered: int
    cases: int
    chosen: bool


def list_study_models(db: Session, *, by: Person, study: str) -> tuple[StudyModel, ...]:
    """The models with predictions on the study's dataset and those that its protocol names, by name.

    Raises:
        NotFound: there is no such study.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = stored.load_study(db, name=study)
    protocol = stored.load_current_protocol(db, study_id=loaded_study.id).protocol
    question_numbers = [
        case.question_number
        for case in list_blind_cases(db, study_id=loaded_study.id)
        if case.kind is CaseKind.SCORED
    ]
    answered = count_predicted_questions(
        db, dataset_id=loaded_study.dataset_id, question_ids=question_numbers
    )
    known = {
        model.name: StudyModel(
            name=model.name,
            simulated=model.simulated,
            predictions=model.predictions,
            failed=model.failed,
            answered=answered.get(model.id, 0),
            cases=len(question_numbers),
            chosen=protocol.includes_model(model.name),
        )
        for model in list_models(db, dataset_id=loaded_study.dataset_id)
    }
    named = {*(protocol.models or ()), *filter(None, [protocol.model])}
    unknown = {
        name: StudyModel(
            name=name,
            simulated=False,
            predictions=0,
            failed=0,
            answered=0,
            cases=len(question_numbers),
            chosen=True,
        )
        for name in named - set(known)
    }
    return tuple(sorted((known | unknown).values(), key=lambda model: model.name))


def choose_models(
    db: Session,
    *,
    by: Person,
    study: str,
    add: Collection[str] = (),
    remove: Collection[str] = (),
    why: str = "",
    now: datetime,
) -> ProtocolVersion:
    """Choose which models take part, as a new version of the protocol. Locks the study.

    Args:
        db: a session that writes.
        by: who acts.
        study: its name.
        add: names of models; they may have no prediction yet.
        remove: names of models that take part.
        why: the reason, required after the first answer.
        now: the time.

    Returns:
        The new version; the current one if the choice does not change.

    Raises:
        NotFound: there is no such study.
        InvalidValue: a model to remove does not take part, or it is the model of the primary comparison.
        Refused: answers are in and there is no reason.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = stored.load_study(db, name=study, lock=True)
    current = stored.load_current_protocol(db, study_id=loaded_study.id)
    protocol = current.protocol
    chosen = protocol.models
    if chosen is None:  # an older protocol, in which every model with predictions takes part
        chosen = tuple(
            model.name
            for model in list_study_models(db, by=by, study=study)
            if model.answered and model.chosen
        )
    for name in remove:
        if name == protocol.model:
            raise InvalidValue("model", f"{name!r} is the model of the protocol's primary comparison")
        if name not in chosen:
            raise InvalidValue(
                "model", f"{name!r} is not in the study. Models: {', '.join(chosen) or 'none'}"
            )
    names = {*chosen, *(name for name in add if name != protocol.model)} - set(remove)
    if protocol.models is not None and names == set(protocol.models):
        return current
    return change_protocol(
        db, by=by, study=study, protocol=replace(protocol, models=tuple(sorted(names))), why=why, now=now
    )
