"""Rules for every file: its name, and the reason that each lint exception must carry."""

import re
from collections.abc import Iterator

from lints.source import SourceFile, Violation

VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "models"}
# An exception must state its rule, then a dash or a second hash, then the reason in words.
_EXCEPTION = re.compile(r"#\s*(noqa|type:\s*ignore|pragma:\s*no cover)")
_EXCEPTION_WITH_REASON = re.compile(
    r"#\s*(noqa:\s*[A-Z0-9, ]+|type:\s*ignore\[[\w, -]+\]|pragma:\s*no cover)\s*(-|–|#)\s*\S.{7,}"
)


def find_vague_names(source: SourceFile) -> Iterator[Violation]:
    """Finds module names that do not describe their content: such modules collect unrelated code."""
    for part in source.path.removesuffix(".py").split("/"):
        if part in VAGUE:
            yield Violation(
                path=source.path,
                line=1,
                rule="vague-name",
                text=f"'{part}' does not describe the content; use a noun",
            )


def find_unexplained_exceptions(source: SourceFile) -> Iterator[Violation]:
    for line, comment in source.comments.items():
        if _EXCEPTION.search(comment) and not _EXCEPTION_WITH_REASON.search(comment):
            yield Violation(
                path=source.path,
                line=line,
                rule="exception-without-reason",
                text="state the rule and the reason: # noqa: RULE - reason",
            )


RULES = (find_vague_names, find_unexplained_exceptions)
