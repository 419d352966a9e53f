"""Finds the line of a TOML file on which a value is declared, for error messages."""

from __future__ import annotations

import re
from collections.abc import Sequence

_HEADER = re.compile(r"\s*\[\[?\s*(?P<name>[^\]]+?)\s*\]\]?\s*(?:#.*)?")
_KEY = re.compile(r"\s*(?P<name>[A-Za-z0-9_.\"'@$?\[\]* -]+?)\s*=")


def find_line(text: str, path: Sequence[str]) -> int:
    """Return the line, from 1, of the value at a path of keys, or of the innermost table that is found.

    Keys inside an inline table, or inside a list over several lines, are found by their names.
    """
    lines = text.splitlines()
    best_line, best_depth = 1, 0
    table: list[str] = []
    for number, line in enumerate(lines, start=1):
        header = _HEADER.fullmatch(line)
        if header:
            table = _split(header["name"])
            keys = table
        else:
            key = _KEY.match(line)
            keys = [*table, *_split(key["name"])] if key else []
        depth = len(keys)
        if depth > best_depth and list(path[:depth]) == keys:
            best_line, best_depth = number, depth
    for name in path[best_depth:]:
        key_pattern = re.compile(rf"(?:^|[\s{{,])[\"']?{re.escape(name)}[\"']?\s*[=\]]")
        for number in range(best_line, len(lines) + 1):
            if number > best_line and (_HEADER.fullmatch(lines[number - 1])):
                break
            if key_pattern.search(lines[number - 1]):
                best_line = number
                break
    return best_line


def _split(name: str) -> list[str]:
    return [
        part.strip().strip("\"'") for part in re.findall(r"\"[^\"]*\"|'[^']*'|[^.\"']+", name) if part.strip()
    ]
