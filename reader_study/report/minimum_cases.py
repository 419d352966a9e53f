"""Withholds the estimates of comparisons on too few cases; the report lists the comparisons with a note."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, TypeVar, get_type_hints

from measures.results import (
    ArmComparison,
    GroupAgreement,
    KappaContrast,
    MrmcComparison,
    PairAgreement,
    PairedDifference,
    UnpairedDifference,
)

if TYPE_CHECKING:
    from measures.all_measures import Measures

_NOTE_START = "too few cases for a comparison"
Comparison = TypeVar(
    "Comparison",
    ArmComparison,
    GroupAgreement,
    KappaContrast,
    MrmcComparison,
    PairAgreement,
    PairedDifference,
    UnpairedDifference,
)


def withhold_small_comparisons(measures: Measures, *, needed: int) -> Measures:
    """Replace the estimates of comparisons on fewer than ``needed`` cases with a note.

    Args:
        measures: the accuracies and comparisons. Accuracies are not changed, because they describe one rater
            and are shown with n.
        needed: the minimum of the protocol, at least 1.
    """

    def withhold(comparison: Comparison, n: int) -> Comparison:
        return comparison if n >= needed else _remove_estimates(comparison, n, needed)

    return replace(
        measures,
        paired=tuple(withhold(row, row.n) for row in measures.paired),
        unpaired=tuple(withhold(row, min(row.n_a, row.n_b)) for row in measures.unpaired),
        mrmc=tuple(withhold(row, row.cases) if row.readers else row for row in measures.mrmc),
        leave_one_out_paired=tuple(withhold(row, row.n) for row in measures.leave_one_out_paired),
        arms=tuple(withhold(row, row.cases) for row in measures.arms),
        agreement=tuple(withhold(row, row.n) for row in measures.agreement),
        group=tuple(withhold(row, row.n) for row in measures.group),
        kappa_contrasts=tuple(withhold(row, row.n) for row in measures.kappa_contrasts),
    )


def is_withheld(note: str) -> bool:
    """Whether the note of a comparison states that its estimate is withheld."""
    return note.startswith(_NOTE_START)


def _remove_estimates(comparison: Comparison, n: int, needed: int) -> Comparison:
    hints = get_type_hints(type(comparison))
    estimates = [field.name for field in fields(comparison) if hints[field.name] == float | None]
    values: dict[str, object] = dict.fromkeys(estimates)
    note_field = "note" if "note" in hints else "how"
    values[note_field] = f"{_NOTE_START} ({n:,} of {needed:,})"
    return replace(comparison, **values)  # type: ignore[arg-type]  # the names are fields of the comparison
