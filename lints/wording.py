"""Finds unclear words in the documents. A smoke test: CONTRIBUTING.md has the rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lints.source import Violation

#: Each unclear word or phrase, with its replacement.
UNCLEAR_WORDS = {
    "told": "write who states, shows or reports what",
    "telling": "write who states, shows or reports what",
    "said": "write who states, shows or reports what",
    "came to": "name the result or the outcome",
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
_UNCLEAR_PATTERN = re.compile(
    r"\b(" + "|".join(sorted(UNCLEAR_WORDS, key=len, reverse=True)) + r")\b", re.IGNORECASE
)
_CODE_PATTERN = re.compile(r"`[^`]*`|\]\([^)]*\)")


def find_unclear_words(root: Path) -> Iterator[Violation]:
    """Finds lines of documents with such a word. Code, link targets and golden files are skipped."""
    documents = [
        *root.glob("*.md"),
        *root.glob("docs/**/*.md"),
        *root.glob("benchmarks/*.md"),
        *root.glob("demo/*.md"),
    ]
    for path in sorted(documents):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for match in _UNCLEAR_PATTERN.finditer(_CODE_PATTERN.sub("", line)):
                word = match[1].lower()
                yield Violation(
                    path=path.relative_to(root).as_posix(),
                    line=number,
                    rule="unclear-word",
                    text=f"{word!r}: {UNCLEAR_WORDS[word]}",
                )
