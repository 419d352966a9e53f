"""The family of comparisons of a protocol, and Holm's adjustment within it.

An entry of the family is ``all``, ``readers-models``, or two sides separated by a colon; a side is a rater's
name, ``readers`` or ``models`` (``readers : MedGemma``). A reader with several arms is included with all.
If the protocol declares no family, or none that names raters of the study, every pair is in the family, so
that an undeclared comparison is not treated as more certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from measures.paired import holm
from measures.records.settings import EVERY_PAIR, READERS_WITH_MODELS
from measures.results import PairedDifference

_GROUPS = {"readers": "reader", "models": "model"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The ``pairs`` of raters by name; ``words`` describe the family."""

    pairs: frozenset[frozenset[str]]
    words: str


def family_of(declared: Sequence[str], kinds: Mapping[str, str]) -> Family:
    """The pairs of a declared family.

    Args:
        declared: the protocol's entries.
        kinds: reader or model, by the rater's name.
    """
    every = frozenset(frozenset(pair) for pair in combinations(sorted(kinds), 2))
    meant = {entry: _pairs(entry, every, kinds) for entry in declared}
    pairs = frozenset().union(*meant.values()) if meant else frozenset()
    lost = [entry for entry, found in meant.items() if not found]
    unknown = f" It names no raters of this study with {', '.join(map(repr, lost))}." if lost else ""
    if pairs:
        said = f"p (Holm) counts the family that the protocol declares, {_number(pairs)} within a task: "
        named = "; ".join(entry for entry in declared if entry not in lost)
        return Family(pairs=pairs, words=f"{said}{named}.{unknown}")
    why = "names no raters of this study" if declared else "declares no family"
    return Family(
        pairs=every, words=f"The protocol {why}: p (Holm) counts all {_number(every)} within a task.{unknown}"
    )


def adjusted(paired: Sequence[PairedDifference], family: Family) -> tuple[PairedDifference, ...]:
    """The differences with ``p_holm`` within the family, task by task; None outside it."""
    p_of: dict[tuple[str, str, str], float | None] = {}
    for task in dict.fromkeys(each.task for each in paired):
        of_task = [each for each in paired if each.task == task]
        counted = [each.p_exact if frozenset((each.a, each.b)) in family.pairs else None for each in of_task]
        p_of |= {(task, each.a, each.b): p for each, p in zip(of_task, holm(counted), strict=True)}
    return tuple(replace(each, p_holm=p_of[each.task, each.a, each.b]) for each in paired)


def _pairs(
    entry: str, every: frozenset[frozenset[str]], kinds: Mapping[str, str]
) -> frozenset[frozenset[str]]:
    if entry == EVERY_PAIR:
        return every
    if entry == READERS_WITH_MODELS:
        entry = "readers : models"
    for at, sign in enumerate(entry):  # names may contain colons
        if sign == ":":
            left, right = _meant(entry[:at], kinds), _meant(entry[at + 1 :], kinds)
            if left and right:
                return frozenset(frozenset((a, b)) for a in left for b in right if a != b)
    return frozenset()


def _meant(side: str, kinds: Mapping[str, str]) -> set[str]:
    name = side.strip()
    if name in kinds:
        return {name}
    arms = {rater for rater in kinds if name and rater.startswith(f"{name} (")}
    return arms or {rater for rater, kind in kinds.items() if kind == _GROUPS.get(name)}


def _number(pairs: frozenset[frozenset[str]]) -> str:
    return f"{len(pairs):,} pair{'' if len(pairs) == 1 else 's'}"
