"""A rule for conversions to types: msgspec may crash if two threads use a new class at the same time."""

import ast
from collections.abc import Iterator

from lints.source import SourceFile, Violation

RULE = "decoding-without-lock"
_ALLOWED_FILE = "records/decoding.py"


def find_decoding_without_lock(source: SourceFile) -> Iterator[Violation]:
    """Finds conversions to a type that do not use :mod:`records.decoding`."""
    if source.path == _ALLOWED_FILE or source.package == "tests":
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and _converts_to_type(node):
            yield Violation(
                path=source.path,
                line=node.lineno,
                rule=RULE,
                text="use a function of records.decoding, which holds a lock",
            )


def _converts_to_type(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    has_type = bool(call.args[1:]) or any(keyword.arg == "type" for keyword in call.keywords)
    return (
        name == "msgspec.convert"
        or (name == "msgspec.json.Decoder" and bool(call.args or call.keywords))
        or (name == "msgspec.json.decode" and has_type)
    )


RULES = (find_decoding_without_lock,)
