"""Finds the declared rule for readers who contributed to the key, among the rules of several results."""

from __future__ import annotations

from collections.abc import Iterable

from domain.protocols import HelperRule, Protocol
from measures.results import ArmComparison, MrmcComparison


def find_declared_rule(rows: Iterable[MrmcComparison | ArmComparison], protocol: Protocol) -> HelperRule:
    """Return the rule of the protocol; EXCLUDED if no row has it: no reader helped, so all rules agree."""
    declared = protocol.used_helpers
    return declared if any(row.helpers is declared for row in rows) else HelperRule.EXCLUDED
