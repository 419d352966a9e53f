"""Finds unclear words in documents and names. The complete rules are in CONTRIBUTING.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from lints.source import SourceFile, Violation

#: Each unclear word or phrase, with its replacement.
UNCLEAR_WORDS = {
    "told": "write who states, shows or reports what",
    "telling": "write who states, shows or reports what",
    "said": "write who states, shows or reports what",
    "came to": "name the result",
    "anew": "write again, or name the action: rebuild, rewrite",
    "whoever": "write who: anyone, people, the reviewer",
    "nobody had foreseen": "write unexpected",
    "way out": "write what to do",
    "leads on": "write what to do next",
    "house rule": "write project rule",
    "room": "write layer, package or folder",
    "rooms": "write layers, packages or folders",
    "at the door": "write on import, or at sign-in",
    "bears on": "write affects or supports",
}
#: Words that names must not contain. Variables and parameters must not be called ``each`` either.
_UNCLEAR_IN_NAMES = {"told", "said", "telling"}
_UNCLEAR_PATTERN = re.compile(
    r"\b(" + "|".join(sorted(UNCLEAR_WORDS, key=len, reverse=True)) + r")\b", re.IGNORECASE
)
_CODE_PATTERN = re.compile(r"`[^`]*`|\]\([^)]*\)")


def find_unclear_words(root: Path) -> Iterator[Violation]:
    """Finds lines of documents with an unclear word. Code and link targets are skipped."""
    documents = [
        *root.glob("*.md"),
        *root.glob("docs/**/*.md"),
        *root.glob("benchmarks/*.md"),
        *root.glob("demo/*.md"),
    ]
    for path in sorted(documents):
        for line_number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for match in _UNCLEAR_PATTERN.finditer(_CODE_PATTERN.sub("", line)):
                word = match[1].lower()
                yield Violation(
                    path=path.relative_to(root).as_posix(),
                    line=line_number,
                    rule="unclear-word",
                    text=f"{word!r}: {UNCLEAR_WORDS[word]}",
                )


def find_unclear_names(source: SourceFile) -> Iterator[Violation]:
    """Finds functions, classes, variables and parameters with a name that does not state what they are."""
    if "/migrations/" in source.path:  # landed migrations are never changed
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name, unclear_names = node.name, _UNCLEAR_IN_NAMES
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name, unclear_names = node.id, {*_UNCLEAR_IN_NAMES, "each"}
        elif isinstance(node, ast.arg):
            name, unclear_names = node.arg, {*_UNCLEAR_IN_NAMES, "each"}
        else:
            continue
        if name in unclear_names or _UNCLEAR_IN_NAMES & set(name.lower().split("_")):
            yield Violation(
                path=source.path,
                line=node.lineno,
                rule="unclear-name",
                text=f"{name!r}: name what it holds or does (`row`, `describe_event`)",
            )


RULES = (find_unclear_names,)
