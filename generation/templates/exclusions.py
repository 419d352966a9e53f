"""Rules that rule out findings (`exclusions.toml`), and the codes of each finding (`findings.toml`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from generation.source_exams import CodedFinding, CodeSystem
from terminology.findings import FindingTerm, compile_pattern, load_findings

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingExclusionRule:
    """A rule that rules out the findings in ``excludes``.

    It applies if a sentence of the report contains ``pattern`` and not ``unless``, or if ``finding`` is
    negated or present, as the table of the rule states. ``source`` is the citation.
    """

    excludes: tuple[str, ...]
    source: str
    reason: str
    pattern: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    finding: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionTable:
    """The rows of `exclusions.toml`: by statement, by negated finding, by present finding."""

    statements: tuple[FindingExclusionRule, ...]
    negated: tuple[FindingExclusionRule, ...]
    present: tuple[FindingExclusionRule, ...]


def is_coded_by(term: FindingTerm, code: CodedFinding) -> bool:
    """Whether a code stands for this finding."""
    if code.system is CodeSystem.MESH:
        return any(pattern.fullmatch(code.code) for pattern in term.mesh)
    return code.code in term.labels


@cache
def load_exclusions() -> ExclusionTable:
    """Load the exclusion table.

    Raises:
        ValueError: a row names an unknown finding or source.
    """
    tables = tomllib.loads((_FOLDER / "exclusions.toml").read_text(encoding="utf-8"))
    sources, terms = tables["sources"], load_findings()
    rows = {
        kind: tuple(_parse_exclusion(row, sources) for row in tables[kind])
        for kind in ("statement", "negated", "present")
    }
    used_findings = {
        name for rules in rows.values() for row in rules for name in (*row.excludes, row.finding) if name
    }
    if not used_findings <= terms.keys():
        raise ValueError(f"exclusions.toml: unknown findings {sorted(used_findings - terms.keys())}")
    return ExclusionTable(statements=rows["statement"], negated=rows["negated"], present=rows["present"])


def _parse_exclusion(row: dict[str, Any], sources: Mapping[str, str]) -> FindingExclusionRule:
    return FindingExclusionRule(
        excludes=tuple(row["excludes"]),
        source=sources[row["source"]],
        reason=row["reason"],
        pattern=compile_pattern(row["pattern"]) if "pattern" in row else None,
        unless=compile_pattern(row["unless"]) if "unless" in row else None,
        finding=row.get("finding", ""),
    )
