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
    for name, known, new in zip(FACT_NAMES, state.facts, facts, strict=True):
        if known is not None and new is not None and known != new:
            raise InvalidValue(
                f"exam.{name}", f"{_shorten(new)}, but an earlier record of exam {key} has {_shorten(known)}"
            )
        merged_facts.append(known if new is None else new)
    radiographs = dict(state.radiographs)
    for name, new_radiograph in new_radiographs.items():
        known_radiograph = radiographs.get(name)
        radiographs[name] = (
            new_radiograph
            if known_radiograph is None
            else _merge_radiograph(key, name, known_radiograph, new_radiograph)
        )
    if tuple(merged_facts) == state.facts and radiographs == state.radiographs:
        return state
    return ExamState(key, state.number, tuple(merged_facts), radiographs)


def _merge_radiograph(key: str, name: str, known: RadiographState, new: RadiographState) -> RadiographState:
    if known.sha256 != new.sha256 if known.sha256 and new.sha256 else known.file != new.file:
        reason = (
            f"{new.file!r}, but an earlier record has {known.file!r} as radiograph {name!r} of exam {key}"
        )
        raise InvalidValue("exam.radiographs.file", reason)
    if View.UNKNOWN not in (known.view, new.view) and known.view != new.view:
        reason = f"{new.view}, but an earlier record has {known.view} for radiograph {name!r} of exam {key}"
        raise InvalidValue("exam.radiographs.view", reason)
    if new.sha256 and not known.sha256:
        # Nobody has seen it, so the image may state the view.
        view = new.view if known.view == View.UNKNOWN else known.view
        return known._replace(view=view, sha256=new.sha256, rows=new.rows, columns=new.columns)
    # A radiograph that people have seen keeps its view even if a later record states one.
    return known


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")
