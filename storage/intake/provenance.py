"""Loading of the origins of generated questions. The import writes them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select
from sqlmodel import Session

from domain.provenance import Provenance
from records.provenance import provenance_from_json
from storage.rows.datasets import QuestionProvenanceRow

_COLUMNS = QuestionProvenanceRow.__table__.c
_SELECT_ORIGINS = select(_COLUMNS.question_id, _COLUMNS.content).where(
    _COLUMNS.question_id.in_(bindparam("question_ids", expanding=True))
)


def load_provenance(db: Session, *, question_id: int) -> Provenance | None:
    """Return the origin of a question; None if its file states none."""
    return load_provenances(db.connection(), question_ids=[question_id]).get(question_id)


def load_provenances(connection: Connection, *, question_ids: Sequence[int]) -> dict[int, Provenance]:
    """Return the origins of at most 2,000 questions by question id. Questions without origin are omitted."""
    rows = connection.execute(_SELECT_ORIGINS, {"question_ids": list(question_ids)})
    return {question_id: provenance_from_json(content) for question_id, content in rows}
