"""Service that estimates the variance components of a study, for the planning of another study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmodel import Session

from domain.people import Action, Person, require
from reader_study.service.reports import load_report_data

if TYPE_CHECKING:
    from measures.pilot import Pilot


def estimate_study_pilot(db: Session, *, by: Person, study: str, model: str | None = None) -> Pilot:
    """Estimate the assumptions of a power calculation from the answers of a study.

    Args:
        db: a read-only session.
        by: the acting person.
        study: the name of the study.
        model: the model; None for the protocol's model, or for the only model. In a study with two arms, the
            arms are compared, and ``model`` is ignored.

    Raises:
        NotFound: the study does not exist.
        Refused: the study does not suffice; see :func:`measures.pilot.estimate_pilot`.
    """
    from measures.all_measures import encode_table  # noqa: PLC0415 - imports pandas, which is not needed at start
    from measures.pilot import estimate_pilot  # noqa: PLC0415 - the same
    from measures.records.settings import Settings  # noqa: PLC0415 - the same
    from reader_study.report.ratings import KEY_RATER, build_ratings  # noqa: PLC0415 - the same

    require(by, Action.RUN_STUDY)
    data = load_report_data(db, by=by, study=study)
    protocol = data.versions[-1].protocol
    settings = Settings(reference=KEY_RATER, bootstrap=0, missing_answers=protocol.used_missing_answers)
    matrix = encode_table(build_ratings(data), settings).matrix
    return estimate_pilot(
        matrix, model=model or (protocol.model if protocol.model in matrix.raters else None)
    )
