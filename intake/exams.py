"""Merges the facts of one exam from several records."""

from __future__ import annotations

from typing import NamedTuple

from domain.errors import InvalidValue
from domain.vocabulary import View
from intake.parsed_batch import ExamFacts

FACT_NAMES = ("patient", "indication", "age", "sex", "report")


class RadiographState(NamedTuple):
    """A radiograph of an exam. Hash and size are None until its image is imported."""

    file: str
    view: str
    sha256: str | None = None
    rows: int | None = None
    columns: int | None = None


class ExamState(NamedTuple):
    """An exam during an import.

    ``number`` is its database id, or None before it has one. ``facts`` are in the order of ``FACT_NAMES``.
    """

    key: str
    number: int | None
    facts: tuple[str | None, ...]
    radiographs: dict[str, RadiographState]


def merge_exam(
    state: ExamState | None, record_facts: ExamFacts, new_radiographs: dict[str, RadiographState]
) -> ExamState:
    """Add the facts of one more record to an exam.

    Args:
        state: the exam so far; None if it is new.
        record_facts: the facts of the record, completed from the image files.
        new_radiographs: the record's radiographs by id.

    Returns:
        The exam with new facts and radiographs; the same object if nothing is new.

    Raises:
        InvalidValue: the record contradicts a known fact.
    """
    key, *facts = record_facts[:6]
    if state is None:
        return ExamState(key, None, tuple(facts), new_radiographs)
    merged_facts: list[str | None] = []
    for fact_name, known_fact, new_fact in zip(FACT_NAMES, state.facts, facts, strict=True):
        if known_fact is not None and new_fact is not None and known_fact != new_fact:
            raise InvalidValue(
                f"exam.{fact_name}",
                f"{_shorten(new_fact)}, but an earlier record of exam {key} has {_shorten(known_fact)}",
            )
        merged_facts.append(known_fact if new_fact is None else new_fact)
    radiographs = dict(state.radiographs)
    for radiograph_id, new_radiograph in new_radiographs.items():
        known_radiograph = radiographs.get(radiograph_id)
        radiographs[radiograph_id] = (
            new_radiograph
            if known_radiograph is None
            else _merge_radiograph(key, radiograph_id, known_radiograph, new_radiograph)
        )
    if tuple(merged_facts) == state.facts and radiographs == state.radiographs:
        return state
    return ExamState(key, state.number, tuple(merged_facts), radiographs)


def _merge_radiograph(
    exam_key: str, radiograph_id: str, known: RadiographState, new: RadiographState
) -> RadiographState:
    radiograph = f"radiograph {radiograph_id!r} of exam {exam_key}"
    if known.sha256 != new.sha256 if known.sha256 and new.sha256 else known.file != new.file:
        reason = f"{new.file!r}, but an earlier record has {known.file!r} as {radiograph}"
        raise InvalidValue("exam.radiographs.file", reason)
    if View.UNKNOWN not in (known.view, new.view) and known.view != new.view:
        reason = f"{new.view}, but an earlier record has {known.view} for {radiograph}"
        raise InvalidValue("exam.radiographs.view", reason)
    if new.sha256 and not known.sha256:
        # Nobody has seen this radiograph yet, so its view may come from the image.
        view = new.view if known.view == View.UNKNOWN else known.view
        return known._replace(view=view, sha256=new.sha256, rows=new.rows, columns=new.columns)
    # A radiograph that people have seen keeps its view even if a later record states one.
    return known


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")
