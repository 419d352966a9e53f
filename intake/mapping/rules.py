"""Applies the rules of a mapping to one record: from columns to the texts of a field."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from string import ascii_uppercase
from typing import Any

from domain.errors import InvalidValue
from intake.mapping.declaration import (
    PLACEHOLDER,
    Condition,
    ConditionSpec,
    MappingFile,
    Rule,
    Scalar,
)
from intake.mapping.paths import follow, parse_path

#: The rows of the second files: the name of the join, then the key, then one row or several rows.
JoinedRows = Mapping[str, Mapping[str, Any]]
_LETTER_SEPARATOR = re.compile(r"\(?A[.):]")
_compile = lru_cache(maxsize=512)(re.compile)


@dataclass(slots=True)
class RecordValues:
    """A record whose columns, variables, computed columns and joined rows are looked up by path.

    ``locate`` gives the file and the line of the mapping where a field has its table of values.
    """

    record: Any
    variables: Mapping[str, str]
    content: MappingFile
    joined: JoinedRows
    locate: Callable[[str], str]
    _computed: dict[str, Any] = field(default_factory=dict)

    def find(self, text: str) -> list[Any]:
        """Return the values at a path; an empty list if there are none."""
        path = parse_path(text)
        if not path.root:
            return follow(self.record, path)
        if path.root in self.variables:
            return [self.variables[path.root]]
        name = path.root.removeprefix("@")
        if name not in self._computed:
            self._computed[name] = self._compute(name)
        return follow(self._computed[name], path)

    def find_text(self, text: str) -> str:
        """Return the values at a path as one text, separated by ", "; empty if there are none."""
        return ", ".join(filter(None, map(to_text, flatten(self.find(text)))))

    def _compute(self, name: str) -> Any:  # noqa: ANN401  # a value of the second file
        if name in self.content.columns:
            return apply_rule(self.content.columns[name], self, f"columns.{name}")
        if name not in self.content.join:
            return None  # unknown names are refused when the mapping is loaded
        key = self.find_text(self.content.join[name].on)
        return self.joined[name].get(key)


def matches_conditions(conditions: Mapping[str, ConditionSpec], values: RecordValues) -> bool:
    """Return whether a record meets all conditions."""
    return all(_matches(condition, values.find_text(path)) for path, condition in conditions.items())


def apply_rules(spec: str | Rule | list[Any] | None, values: RecordValues, name: str) -> list[str]:
    """Return the texts of a field, from the first rule that gives a text; an empty list if no rule does.

    Raises:
        InvalidValue: a value is not in the rule's table, or is an object.
    """
    for rule in spec if isinstance(spec, list) else [spec]:
        texts = (
            []
            if rule is None
            else _to_texts(values.find(rule), name)
            if isinstance(rule, str)
            else apply_rule(rule, values, name)
        )
        if texts:
            return texts
    return []


def apply_rule(rule: Rule, values: RecordValues, name: str) -> list[str]:
    """Return the texts that a rule derives from a record."""
    if rule.where and not matches_conditions(rule.where, values):
        return []
    texts = _read_texts(rule, values, name)
    for pattern in [rule.remove] if isinstance(rule.remove, str) else rule.remove or ():
        texts = [_compile(pattern).sub("", text).strip() for text in texts]
    if rule.extract is not None:
        matches = [_compile(rule.extract).search(text) for text in texts]
        texts = [(match[1] if match.re.groups else match[0]) or "" for match in matches if match]
    if rule.lower:
        texts = [text.lower() for text in texts]
    texts = [text.strip() for text in texts if text.strip()]
    if rule.values is not None:
        table = _fold_table(rule)
        texts = [result for text in texts if (result := _look_up(rule, table, text, name, values.locate))]
    if rule.join is not None and texts:
        texts = [rule.join.join(texts)]
    if not texts and rule.default is not None:
        texts = [to_text(rule.default)]
    return texts


def to_text(value: object) -> str:
    """Return the text of a scalar: integers without ".0", "yes" for true, "no" for false, "" for null."""
    if isinstance(value, str):
        return value.strip()
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def flatten(values: list[Any]) -> list[Any]:
    """Return all scalars in lists and objects, in order. Single-letter members are sorted by letter."""
    result: list[Any] = []
    for value in values:
        if isinstance(value, list):
            result += flatten(value)
        elif isinstance(value, dict):
            keys = sorted(value) if all(len(key) == 1 for key in value) else list(value)
            result += flatten([value[key] for key in keys])
        else:
            result.append(value)
    return result


def _read_texts(rule: Rule, values: RecordValues, name: str) -> list[str]:
    if rule.value is not None:
        return _to_texts([rule.value], name)
    if rule.template is not None:
        return _fill_template(rule.template, values.find_text)
    paths = [rule.from_] if isinstance(rule.from_, str) else rule.from_ or []
    items = [item for path in paths for item in values.find(path)]
    if rule.split is not None:
        items = [part for text in _to_texts(items, name) for part in _split(text, rule.split)]
    if rule.value_template is not None:
        if "{[" not in rule.value_template:
            items = flatten(items)
        return [
            text for item in items for text in _fill_template(rule.value_template, _make_part_finder(item))
        ]
    return _to_texts(items, name)


def _split(text: str, separator: str) -> list[str]:
    """Split a cell. The separator "A." splits "A. Nodule B. Effusion" before each letter."""
    if not _LETTER_SEPARATOR.fullmatch(separator):
        return text.split(separator)
    before, _, after = separator.partition("A")
    starts: list[int] = []
    position = 0
    for letter in ascii_uppercase:
        mark = f"{before}{letter}{after}"
        position = text.find(mark, position)
        if position < 0:
            break
        starts.append(position)
        position += len(mark)
    ends = [*starts[1:], len(text)]
    return [text[start + len(separator) : end] for start, end in zip(starts, ends, strict=True)] or [text]


def _make_part_finder(item: Any) -> Callable[[str], str]:  # noqa: ANN401  # any JSON value
    def find(path: str) -> str:
        parts = follow(item, parse_path(path)) if path else [item]
        return ", ".join(filter(None, map(to_text, flatten(parts))))

    return find


def _fill_template(template: str, find: Callable[[str], str]) -> list[str]:
    """Return the filled template as a list of one text; empty if all of its columns are empty."""
    texts = [find(path) for path in PLACEHOLDER.findall(template)]
    if texts and not any(texts):
        return []
    remaining = iter(texts)
    return [PLACEHOLDER.sub(lambda _: next(remaining), template).strip()]


def _to_texts(items: list[Any], name: str) -> list[str]:
    if any(isinstance(item, dict) for item in items) and not name.endswith("options"):
        raise InvalidValue(name, "is an object, not a text; name one of its members, as in column.member")
    return [text for item in flatten(items) if (text := to_text(item))]


def _matches(condition: ConditionSpec, text: str) -> bool:
    if not isinstance(condition, Condition):
        return _is_one_of(text, condition)
    return (
        (condition.is_ is None or _is_one_of(text, condition.is_))
        and (condition.not_ is None or not _is_one_of(text, condition.not_))
        and (condition.matches is None or _compile(condition.matches).search(text) is not None)
        and (condition.empty is None or condition.empty == (not text))
    )


def _is_one_of(text: str, allowed: list[Scalar] | Scalar) -> bool:
    allowed_values = allowed if isinstance(allowed, list) else [allowed]
    return text.casefold() in {to_text(value).casefold() for value in allowed_values}


_tables: dict[int, tuple[Rule, dict[str, str]]] = {}


def _fold_table(rule: Rule) -> dict[str, str]:
    cached = _tables.get(id(rule))
    if cached is None or cached[0] is not rule:
        table = {text.strip().casefold(): to_text(result) for text, result in (rule.values or {}).items()}
        _tables[id(rule)] = cached = (rule, table)
    return cached[1]


def _look_up(rule: Rule, table: dict[str, str], text: str, name: str, locate: Callable[[str], str]) -> str:
    result = table.get(text.casefold())
    if result is not None:
        return result
    if rule.otherwise == "refuse":
        known_texts = ", ".join(list(rule.values or {})[:12])
        raise InvalidValue(
            name,
            f"{text[:80]!r} is not in the values of {locate(name)} ({known_texts}); add it, or set otherwise",
        )
    return text if rule.otherwise == "keep" else ""
