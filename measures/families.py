"""Resolves the declared family of comparisons, and adjusts the p values of a table of comparisons within it.

An entry of a family is ``all``, ``readers-models``, or two sides separated by a colon (``readers :
MedGemma``). A side is the name of a rater, ``readers`` or ``models``; the name of a reader includes all of
the reader's arms. A comparison of all readers with a model belongs to the family if the pair of any reader
with that model does. The comparisons of two arms are a family of their own.

Tests of the same hypothesis are not adjusted for each other: those with random and with fixed readers; with
all readers, with those who did not help to set the reference, and with each reader scored by a reference made
without that reader; for the mean of the arms and for a single arm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from domain.protocols import Adjustment
from measures.multiplicity import adjust_by_group
from measures.rating_values import ALL
from measures.results import ArmComparison, MrmcComparison, PairedDifference

#: The rules for a family: every pair of raters, or each reader with each model.
EVERY_PAIR, READERS_WITH_MODELS = "all", "readers-models"
_OUTSIDE = "p_adjusted: outside the family"
_GROUPS = {"readers": "reader", "models": "model"}

Pairs = frozenset[frozenset[str]]


def resolve_pairs(entry: str, *, kinds: Mapping[str, str], comparable: Pairs) -> Pairs:
    """Return the pairs that an entry declares.

    Args:
        entry: the entry.
        kinds: the kind of each rater ("reader" or "model"), by name.
        comparable: all pairs of raters that are compared.

    Returns:
        Pairs of ``comparable``; empty if the entry names no raters.
    """
    if entry == EVERY_PAIR:
        return comparable
    if entry == READERS_WITH_MODELS:
        entry = "readers : models"
    for index, character in enumerate(entry):  # names may contain colons
        if character == ":":
            left, right = _resolve_side(entry[:index], kinds), _resolve_side(entry[index + 1 :], kinds)
            if left and right:
                return comparable & {frozenset((a, b)) for a in left for b in right if a != b}
    return frozenset()


def adjust_paired(
    rows: Iterable[PairedDifference], pairs: Pairs, adjustment: Adjustment
) -> tuple[PairedDifference, ...]:
    """Set ``p_adjusted`` of each difference of two raters; None outside the family."""
    table = list(rows)
    adjusted = adjust_by_group(
        [row.p_exact if frozenset((row.a, row.b)) in pairs else None for row in table],
        [row.task == ALL for row in table],
        adjustment,
    )
    notes = [_add_family_note(row.note, row.p_exact, p) for row, p in zip(table, adjusted, strict=True)]
    return tuple(
        row if (row.p_adjusted, row.note) == (p, note) else replace(row, p_adjusted=p, note=note)
        for row, p, note in zip(table, adjusted, notes, strict=True)
    )


def adjust_mrmc(
    rows: Iterable[MrmcComparison], pairs: Pairs, *, kinds: Mapping[str, str], adjustment: Adjustment
) -> tuple[MrmcComparison, ...]:
    """Set ``p_adjusted`` of each comparison of the readers with a model; None outside the family."""
    table = list(rows)
    models = {name for pair in pairs if any(kinds.get(rater) == "reader" for rater in pair) for name in pair}
    adjusted = adjust_by_group(
        [row.p if row.model in models else None for row in table],
        [(row.task == ALL, row.measure, row.arm != "", row.helpers, row.random_readers) for row in table],
        adjustment,
    )
    return tuple(
        replace(row, p_adjusted=p, note=_add_family_note(row.note, row.p, p))
        for row, p in zip(table, adjusted, strict=True)
    )


def adjust_arms(rows: Iterable[ArmComparison], adjustment: Adjustment) -> tuple[ArmComparison, ...]:
    """Set ``p_adjusted`` of each comparison of two arms; the checks of a crossover have none."""
    table = list(rows)
    adjusted = adjust_by_group(
        [row.p if row.factor == "arm" else None for row in table],
        [(row.task == ALL, row.measure, row.helpers, row.method) for row in table],
        adjustment,
    )
    return tuple(replace(row, p_adjusted=p) for row, p in zip(table, adjusted, strict=True))


def list_compared_pairs(rows: Sequence[PairedDifference]) -> Pairs:
    """Return the pairs of raters that a table compares."""
    return frozenset(frozenset((row.a, row.b)) for row in rows)


def _add_family_note(note: str, p: float | None, adjusted: float | None) -> str:
    """Add the note of a comparison outside the family, which has a p value but no adjusted one."""
    if not note and (p is None or adjusted is not None):
        return ""
    notes = [part for part in note.split("; ") if part and part != _OUTSIDE]
    return "; ".join([*notes, *([_OUTSIDE] if p is not None and adjusted is None else [])])


def _resolve_side(side: str, kinds: Mapping[str, str]) -> set[str]:
    name = side.strip()
    if name in kinds:
        return {name}
    arms = {rater for rater in kinds if name and rater.startswith(f"{name} (")}
    return arms or {rater for rater, kind in kinds.items() if kind == _GROUPS.get(name)}
