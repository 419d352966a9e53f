"""Paths to the values of a record: ``answer``, ``options[*].text``, ``[3].path``, ``$file``, ``@history``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from domain.errors import InvalidValue

_ALL = None  # the step "[*]"
_STEP = re.compile(r"\.?(?P<key>[^.\[\]]+)|\[(?P<index>\d+|\*)\]")
#: Roots of values outside the record: the file name without extension, the record's number and the record's
#: key.
VARIABLES = ("$file", "$number", "$key")


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed path. An ``optional`` path, written with "?" at the end, may be absent from all records."""

    text: str
    root: str
    steps: tuple[str | int | None, ...]
    optional: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the whole path may name; the column of an optional path may end with "?" too."""
        return (f"{self.text}?", self.text) if self.optional else (self.text,)


@lru_cache(maxsize=512)
def parse_path(text: str) -> Path:
    """Parse a path. A text with brackets that do not form a path is the name of a column.

    Raises:
        InvalidValue: the text is empty, or begins with $ and is not one of the variables.

    >>> parse_path("options[*].content").steps
    ('options', None, 'content')
    >>> parse_path("answer [A-D]").steps
    ('answer [A-D]',)
    """
    stripped = text.strip()
    optional = stripped.endswith("?")
    stripped = stripped.removesuffix("?")
    root, remainder = "", stripped
    if stripped[:1] in ("$", "@"):
        match = re.match(r"[$@][A-Za-z0-9_]+", stripped)
        root = match[0] if match else stripped
        remainder = stripped[len(root) :]
    if root.startswith("$") and (root not in VARIABLES or remainder):
        raise InvalidValue("path", f"{text!r} is not one of {', '.join(VARIABLES)}")
    steps: list[str | int | None] = []
    position = 0
    while position < len(remainder):
        step = _STEP.match(remainder, position)
        if step is None:
            steps = [remainder]
            break
        if step["key"] is not None:
            steps.append(step["key"])
        else:
            steps.append(_ALL if step["index"] == "*" else int(step["index"]))
        position = step.end()
    if not stripped:
        raise InvalidValue("path", "is empty; write the name of a column")
    return Path(text=stripped, root=root, steps=tuple(steps), optional=optional)


def follow(value: Any, path: Path) -> list[Any]:  # noqa: ANN401  # any JSON value
    """Return the values at a path below a value; an empty list if there are none.

    A key that equals the text of the path takes precedence: a column's name may contain dots and
    brackets, and end with "?".

    >>> follow({"options": [{"text": "a"}, {"text": "b"}]}, parse_path("options[*].text"))
    ['a', 'b']
    """
    if isinstance(value, dict) and not path.root:
        for column in path.columns:
            if column in value:
                return [value[column]]
    values = [value]
    for step in path.steps:
        next_values: list[Any] = []
        for parent in values:
            if step is _ALL:
                if isinstance(parent, list):
                    next_values += parent
                elif isinstance(parent, dict):
                    next_values += parent.values()
            elif isinstance(step, int):
                if isinstance(parent, list) and step < len(parent):
                    next_values.append(parent[step])
            elif isinstance(parent, dict) and step in parent:
                next_values.append(parent[step])
        values = next_values
    return values
