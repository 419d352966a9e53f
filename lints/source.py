"""A Python file of the project, parsed for the rules, with the exceptions that it declares."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_EXCLUDED_FOLDERS = {"workspace", "node_modules", "build", "dist"}
_ALLOWANCE = re.compile(r"#\s*allow ([a-z-]+): (.{8,})")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Violation:
    """One violation of one rule; ``text`` states what to do instead."""

    path: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """One Python file; ``path`` is relative to the project, with forward slashes."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, filename=self.path)

    @cached_property
    def comments(self) -> dict[int, str]:
        """The comment of each line, by line number from 1."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}

    @property
    def package(self) -> str:
        """The top-level package, or the file name of a top-level module (``cli.py``)."""
        return self.path.split("/", 1)[0]

    def allows(self, rule: str, node: ast.expr | ast.stmt) -> bool:
        """Return whether a line of ``node`` has ``# allow RULE: reason``. The reason is required."""
        last = node.end_lineno or node.lineno
        matches = (_ALLOWANCE.search(self.comments.get(line, "")) for line in range(node.lineno, last + 1))
        return any(match is not None and match[1] == rule for match in matches)


def read_sources(root: Path) -> Iterator[SourceFile]:
    """Yield every Python file under ``root``, ordered by path, without hidden and excluded folders."""
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parts
        if not any(part.startswith(".") or part in _EXCLUDED_FOLDERS for part in parts):
            yield SourceFile(path="/".join(parts), text=path.read_text(encoding="utf-8"))
