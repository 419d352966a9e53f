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
#: Word boundaries and lookbehinds at the beginning of a pattern.
_NO_TEXT = re.compile(r"^(?:\\b|\(\?<![^)]*\))*")
_FIRST_LETTERS = re.compile(r"[A-Za-z]+")
_MIN_LETTERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingTerm:
    """A finding, its words, its codes and its texts; `findings.toml` describes the fields.

    ``triggers`` are texts in lower case of which a text has at least one if it mentions the finding; empty if
    that is not known.
    """

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
    triggers: tuple[str, ...]

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
    terms = {name: _parse_term(name, table) for name, table in tables.items()}
    unknown = {other for term in terms.values() for other in term.blocked_by} - terms.keys()
    if unknown:
        raise ValueError(f"findings.toml: unknown findings {sorted(unknown)}")
    return terms


def find_triggers(*patterns: str) -> tuple[str, ...]:
    r"""Return texts in lower case of which each match of the patterns has one; empty if that is not known.

    >>> find_triggers(r"pneumothora\w+|(?<!joint )effusions?|(?:big|large) heart")
    ('pneumothora', 'effusion', 'big', 'large')
    >>> find_triggers(r"\S+ effusion")
    ()
    """
    triggers: dict[str, None] = {}
    for pattern in patterns:
        for alternative in _split_alternatives(pattern):
            found = _find_first_texts(alternative)
            if not found:
                return ()
            triggers.update(dict.fromkeys(found))
    return tuple(triggers)


def _find_first_texts(alternative: str) -> tuple[str, ...]:
    alternative = _NO_TEXT.sub("", alternative)
    if alternative.startswith("(?:"):
        end = _find_closing(alternative)
        return () if alternative[end + 1 : end + 2] in {"?", "*"} else find_triggers(alternative[3:end])
    match = _FIRST_LETTERS.match(alternative)
    if match is None:
        return ()
    # A letter before ? or * need not be there.
    letters = match[0][:-1] if alternative[match.end() : match.end() + 1] in {"?", "*"} else match[0]
    return (letters.casefold(),) if len(letters) >= _MIN_LETTERS else ()


def _find_closing(pattern: str) -> int:
    """Return the index of the parenthesis that closes the first one."""
    depth = 0
    for index, character in enumerate(pattern):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if not depth:
            return index
    raise ValueError(f"a parenthesis is not closed: {pattern}")


def _split_alternatives(pattern: str) -> list[str]:
    """Split a pattern at the bars outside parentheses."""
    parts, depth = [""], 0
    for character in pattern:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _parse_term(name: str, table: dict[str, Any]) -> FindingTerm:
    noun, article = table["noun"], table["article"]
    with_article = f"{article} {noun}".strip()
    verb = "are" if table.get("plural") else "is"
    mention, own_name = table["mention"], table.get("name", table["mention"])
    return FindingTerm(
        id=name,
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
        triggers=find_triggers(mention, own_name),
    )
