"""Computes and stores the reading orders of a study."""

from __future__ import annotations

from sqlmodel import Session

from domain.studies import ReaderStudy
from reader_study.design import compute_orders
from storage.reader_study.cases import list_blind_cases, replace_slots
from storage.reader_study.readers import list_readers
from storage.reader_study.readings import delete_drafts
from storage.reader_study.studies import load_current_protocol


def replace_reading_orders(db: Session, *, study: ReaderStudy) -> None:
    """Replace the slots of all readers except external readers, and delete their drafts.

    Call this function when readers are added or removed, or when the shuffling of options changes, and only
    before the first answer.

    Raises:
        Refused: there are fewer readers than each case needs, or the orders have no room for the
            requested repeats.
    """
    reader_ids = [reader.id for reader in list_readers(db, study_id=study.id) if not reader.is_external]
    for reader_id in reader_ids:
        delete_drafts(db, reader_id=reader_id)
    slots = []
    if reader_ids:
        slots = compute_orders(
            study.design,
            readers=reader_ids,
            cases=list_blind_cases(db, study_id=study.id),
            shuffle_options=load_current_protocol(db, study_id=study.id).protocol.shuffle_options,
        )
    replace_slots(db, study_id=study.id, slots=slots)
