"""The findings that templates ask about, and what rules a finding out: `findings.toml`, `exclusions.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from domain.vocabulary import Task
from generation.source_exams import CodedFinding, CodeSystem

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingTerm:
    """A finding, its words, its codes and its texts; `findings.toml` describes the fields."""

    id: str
    noun: str
    article: str
    mention: re.Pattern[str]
    name: re.Pattern[str]
    group: str
    mesh: tuple[re.Pattern[str], ...]
    labels: frozenset[str]
    plural: bool
    sign: str
    category: str
    subcategory: str
    tasks: frozenset[Task]
    restricted_by: frozenset[str]
    blocked_by: frozenset[str]
    present: str
    absent: str
    ask: str

    @property
    def option(self) -> str:
        """The finding as an option."""
        return capitalise(self.noun)

    @property
    def with_article(self) -> str:
        """The finding in running text with its article."""
        return f"{self.article} {self.noun}".strip()

    def is_coded_by(self, code: CodedFinding) -> bool:
        """Whether a code states this finding."""
        if code.system is CodeSystem.MESH:
            return any(pattern.fullmatch(code.code) for pattern in self.mesh)
        return code.code in self.labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """What excludes findings: a statement of the report, or another finding. ``source`` is the citation."""

    excludes: tuple[str, ...]
    source: str
    reason: str
    pattern: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    finding: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionTable:
    """The rows of `exclusions.toml`: by statement, by negated finding, by present finding."""

    statements: tuple[Exclusion, ...]
    negated: tuple[Exclusion, ...]
    present: tuple[Exclusion, ...]


def capitalise(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


@cache
def load_findings() -> Mapping[str, FindingTerm]:
    """Load the findings by id.

    Raises:
        ValueError: a finding refers to one that does not exist, or lacks a field.
    """
    tables = tomllib.loads((_FOLDER / "findings.toml").read_text(encoding="utf-8"))
    terms = {name: _parse_term(name, table) for name, table in tables.items()}
    unknown = {other for term in terms.values() for other in term.blocked_by} - terms.keys()
    if unknown:
        raise ValueError(f"findings.toml: unknown findings {sorted(unknown)}")
    return terms


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
    used = {name for parts in rows.values() for row in parts for name in (*row.excludes, row.finding) if name}
    if not used <= terms.keys():
        raise ValueError(f"exclusions.toml: unknown findings {sorted(used - terms.keys())}")
    return ExclusionTable(statements=rows["statement"], negated=rows["negated"], present=rows["present"])


def _parse_term(name: str, table: dict[str, Any]) -> FindingTerm:
    noun, article = table["noun"], table["article"]
    with_article = f"{article} {noun}".strip()
    verb = "are" if table.get("plural") else "is"
    return FindingTerm(
        id=name,
        noun=noun,
        article=article,
        mention=_compile(table["mention"]),
        name=_compile(table.get("name", table["mention"])),
        group=table["group"],
        mesh=tuple(_compile(pattern) for pattern in table["mesh"]),
        labels=frozenset(table["labels"]),
        plural=table.get("plural", False),
        sign=table["sign"],
        category=table["category"],
        subcategory=table["subcategory"],
        tasks=frozenset(Task(task) for task in table["tasks"]),
        restricted_by=frozenset(table.get("restricted_by", ())),
        blocked_by=frozenset(table.get("blocked_by", ())),
        present=table.get("present", f"{capitalise(with_article)} {verb} present"),
        absent=table.get("absent", f"No {noun} {verb} present"),
        ask=table.get("ask", f"{capitalise(verb)} there {with_article}?"),
    )


def _parse_exclusion(row: dict[str, Any], sources: Mapping[str, str]) -> Exclusion:
    return Exclusion(
        excludes=tuple(row["excludes"]),
        source=sources[row["source"]],
        reason=row["reason"],
        pattern=_compile(row["pattern"]) if "pattern" in row else None,
        unless=_compile(row["unless"]) if "unless" in row else None,
        finding=row.get("finding", ""),
    )


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
