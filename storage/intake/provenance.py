"""Loading of the origins of generated questions. The import writes them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select
from sqlmodel import Session

from domain.provenance import Provenance
from records.provenance import provenance_from_json
from storage.rows.datasets import QuestionProvenanceRow

_ORIGIN = QuestionProvenanceRow.__table__.c
_ORIGINS = select(_ORIGIN.question_id, _ORIGIN.content).where(
    _ORIGIN.question_id.in_(bindparam("question_ids", expanding=True))
)


def load_provenance(db: Session, *, question_id: int) -> Provenance | None:
    """Return the origin of a question; None if its file states none."""
    return load_provenances(db.connection(), question_ids=[question_id]).get(question_id)


def load_provenances(connection: Connection, *, question_ids: Sequence[int]) -> dict[int, Provenance]:
    """Return the origins of those of at most 2,000 questions that have one, by question id."""
    rows = connection.execute(_ORIGINS, {"question_ids": list(question_ids)})
    return {number: provenance_from_json(content) for number, content in rows}
