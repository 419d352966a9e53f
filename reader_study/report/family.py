"""The family of comparisons of a protocol, and the Holm adjustment within it.

An entry of the family is ``all``, ``readers-models``, or two sides separated by a colon (``readers :
MedGemma``). A side is the name of a rater, ``readers`` or ``models``; the name of a reader includes all of
the reader's arms. If the protocol declares no family, or its entries name no raters of the study, every pair
is in the family, so that undeclared comparisons are also adjusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from domain.count_texts import count_text
from measures.paired import holm
from measures.records.settings import EVERY_PAIR, READERS_WITH_MODELS
from measures.results import PairedDifference

_GROUPS = {"readers": "reader", "models": "model"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The pairs of raters' names in the family, and a description of the family for the report."""

    pairs: frozenset[frozenset[str]]
    description: str


def resolve_family(declared: Sequence[str], kinds: Mapping[str, str]) -> Family:
    """Return the pairs of a declared family.

    Args:
        declared: the entries in the protocol.
        kinds: the kind of each rater ("reader" or "model"), by name.
    """
    all_pairs = frozenset(frozenset(pair) for pair in combinations(sorted(kinds), 2))
    pairs_by_entry = {entry: _resolve_pairs(entry, all_pairs, kinds) for entry in declared}
    pairs = frozenset().union(*pairs_by_entry.values()) if pairs_by_entry else frozenset()
    unknown_entries = [entry for entry, entry_pairs in pairs_by_entry.items() if not entry_pairs]
    unknown = (
        f" Entries without raters of this study: {', '.join(map(repr, unknown_entries))}."
        if unknown_entries
        else ""
    )
    if pairs:
        prefix = (
            f"p (Holm) is adjusted within the family that the protocol declares, {_format_count(pairs)} per "
            "task: "
        )
        known_entries = "; ".join(entry for entry in declared if entry not in unknown_entries)
        return Family(pairs=pairs, description=f"{prefix}{known_entries}.{unknown}")
    reason = "names no raters of this study" if declared else "does not declare a family"
    return Family(
        pairs=all_pairs,
        description=(
            f"The protocol {reason}, so p (Holm) is adjusted for all {_format_count(all_pairs)} per "
            f"task.{unknown}"
        ),
    )


def adjust_p_values(paired: Sequence[PairedDifference], family: Family) -> tuple[PairedDifference, ...]:
    """Set ``p_holm`` of each difference: adjusted within the family and the task, None outside the family."""
    p_by_comparison: dict[tuple[str, str, str], float | None] = {}
    for task in dict.fromkeys(row.task for row in paired):
        task_rows = [row for row in paired if row.task == task]
        family_p_values = [
            row.p_exact if frozenset((row.a, row.b)) in family.pairs else None for row in task_rows
        ]
        p_by_comparison |= {
            (task, row.a, row.b): p for row, p in zip(task_rows, holm(family_p_values), strict=True)
        }
    return tuple(replace(row, p_holm=p_by_comparison[row.task, row.a, row.b]) for row in paired)


def _resolve_pairs(
    entry: str, all_pairs: frozenset[frozenset[str]], kinds: Mapping[str, str]
) -> frozenset[frozenset[str]]:
    if entry == EVERY_PAIR:
        return all_pairs
    if entry == READERS_WITH_MODELS:
        entry = "readers : models"
    for index, character in enumerate(entry):  # names may contain colons
        if character == ":":
            left, right = _resolve_side(entry[:index], kinds), _resolve_side(entry[index + 1 :], kinds)
            if left and right:
                return frozenset(frozenset((a, b)) for a in left for b in right if a != b)
    return frozenset()


def _resolve_side(side: str, kinds: Mapping[str, str]) -> set[str]:
    name = side.strip()
    if name in kinds:
        return {name}
    arms = {rater for rater in kinds if name and rater.startswith(f"{name} (")}
    return arms or {rater for rater, kind in kinds.items() if kind == _GROUPS.get(name)}


def _format_count(pairs: frozenset[frozenset[str]]) -> str:
    return count_text(len(pairs), "pair")
