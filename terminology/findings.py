"""The findings of chest radiographs: their words, codes and texts in `findings.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from domain.vocabulary import Task

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


def capitalise(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of a vocabulary file; case is ignored."""
    return re.compile(pattern, re.IGNORECASE)


@cache
def load_findings() -> Mapping[str, FindingTerm]:
    """Load the findings by id.

    Raises:
        ValueError: a finding refers to one that does not exist, or lacks a field.
    """
    tables = tomllib.loads((_FOLDER / "findings.toml").read_text(encoding="utf-8"))
    terms = {term_id: _parse_term(term_id, table) for term_id, table in tables.items()}
    unknown_ids = {blocking_id for term in terms.values() for blocking_id in term.blocked_by} - terms.keys()
    if unknown_ids:
        raise ValueError(f"findings.toml: unknown findings {sorted(unknown_ids)}")
    return terms


def _parse_term(term_id: str, table: dict[str, Any]) -> FindingTerm:
    noun, article = table["noun"], table["article"]
    with_article = f"{article} {noun}".strip()
    verb = "are" if table.get("plural") else "is"
    mention, own_name = table["mention"], table.get("name", table["mention"])
    return FindingTerm(
        id=term_id,
        noun=noun,
        article=article,
        mention=compile_pattern(mention),
        name=compile_pattern(own_name),  # the same object as the mention if the patterns are equal
        group=table["group"],
        mesh=tuple(compile_pattern(pattern) for pattern in table["mesh"]),
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
