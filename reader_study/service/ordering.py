"""Computes and stores the reading order of every reader of a study."""

from __future__ import annotations

from sqlmodel import Session

from domain.studies import ReaderStudy
from reader_study.design import orders
from storage.reader_study.cases import blind_cases_of, replace_slots
from storage.reader_study.readers import readers_of
from storage.reader_study.readings import forget_drafts
from storage.reader_study.studies import current_protocol


def make_orders(db: Session, *, study: ReaderStudy) -> None:
    """Replace the slots of all readers except outside readers, and delete their drafts.

    Call it before the first answer, whenever readers are added or removed.

    Raises:
        Refused: there are fewer readers than each case needs, or more repeats than fit.
    """
    readers = [reader.id for reader in readers_of(db, study_id=study.id) if not reader.outside]
    for reader in readers:
        forget_drafts(db, reader_id=reader)
    slots = []
    if readers:
        slots = orders(
            study.design,
            readers=readers,
            cases=blind_cases_of(db, study_id=study.id),
            shuffle_options=current_protocol(db, study_id=study.id).protocol.shuffle_options,
        )
    replace_slots(db, study_id=study.id, slots=slots)
