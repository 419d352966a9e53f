"""Rules for every file: its name, and the reason that each lint exception must carry."""

import re
from collections.abc import Iterator

from lints.source import Offence, Source

VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "models"}
# Required: the rule, then a dash or a further hash, then the reason in words.
_SWITCHES_OFF = re.compile(r"#\s*(noqa|type:\s*ignore|pragma:\s*no cover)")
_WITH_REASON = re.compile(
    r"#\s*(noqa:\s*[A-Z0-9, ]+|type:\s*ignore\[[\w, -]+\]|pragma:\s*no cover)\s*(-|–|#)\s*\S.{7,}"
)


def vague_name(source: Source) -> Iterator[Offence]:
    """Finds module names that do not describe their content: such modules collect unrelated code."""
    for part in source.path.removesuffix(".py").split("/"):
        if part in VAGUE:
            yield Offence(
                path=source.path,
                line=1,
                rule="vague-name",
                text=f"'{part}' says nothing of what is inside; name the noun",
            )


def exception_without_reason(source: Source) -> Iterator[Offence]:
    for line, comment in source.comments.items():
        if _SWITCHES_OFF.search(comment) and not _WITH_REASON.search(comment):
            yield Offence(
                path=source.path,
                line=line,
                rule="exception-without-reason",
                text="say which rule and why: # noqa: RULE - reason",
            )


RULES = (vague_name, exception_without_reason)
