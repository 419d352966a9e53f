"""The family of comparisons of a protocol, within which p values are adjusted.

:mod:`measures.families` describes the entries of a family. If the protocol declares no family, or its entries
name no raters of the study, every pair is in the family, so that undeclared comparisons are also adjusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from domain.count_texts import count_text
from domain.protocols import Adjustment
from measures.families import Pairs, resolve_pairs

_SCOPE = (
    "The comparisons over all tasks are one family, the comparisons of all single tasks another. The "
    "comparisons of "
    "the readers' mean with the models are adjusted in the same way, separately from the pairs."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The pairs of raters' names in the family, and a description of the family for the report."""

    pairs: Pairs
    description: str


def resolve_family(
    declared: Sequence[str],
    kinds: Mapping[str, str],
    *,
    compared: Pairs | None = None,
    adjustment: Adjustment = Adjustment.HOLM,
) -> Family:
    """Return the pairs of a declared family.

    Args:
        declared: the entries in the protocol.
        kinds: the kind of each rater ("reader" or "model"), by name.
        compared: the pairs that the report compares; None for every pair.
        adjustment: the adjustment of p values, for the description.
    """
    all_pairs = (
        frozenset(frozenset(pair) for pair in combinations(sorted(kinds), 2))
        if compared is None
        else compared
    )
    pairs_by_entry = {entry: resolve_pairs(entry, kinds=kinds, comparable=all_pairs) for entry in declared}
    pairs = frozenset().union(*pairs_by_entry.values()) if pairs_by_entry else frozenset()
    unknown_entries = [entry for entry, entry_pairs in pairs_by_entry.items() if not entry_pairs]
    unknown_note = (
        f" Entries without raters of this study: {', '.join(map(repr, unknown_entries))}."
        if unknown_entries
        else ""
    )
    if pairs:
        known_entries = "; ".join(entry for entry in declared if entry not in unknown_entries)
        return Family(
            pairs=pairs,
            description=(
                f"p values are adjusted ({adjustment.label}) within the family that the protocol declares, "
                f"{_format_count(pairs)}: {known_entries}.{unknown_note} {_SCOPE}"
            ),
        )
    reason = "names no raters of this study" if declared else "defines no family of comparisons"
    return Family(
        pairs=all_pairs,
        description=(
            f"The protocol {reason}, so p values are adjusted ({adjustment.label}) for all "
            f"{_format_count(all_pairs)}.{unknown_note} {_SCOPE}"
        ),
    )


def _format_count(pairs: Pairs) -> str:
    return count_text(len(pairs), "pair")
