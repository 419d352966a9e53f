"""The published JSON Schema of ``overread.question/1``, made from the record itself.

``python -m records.schema`` writes the file in docs/formats/ anew; a test compares the two.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from domain.vocabulary import AnswerFormat
from records.questions import QuestionRecord

PATH = Path(__file__).resolve().parents[1] / "docs" / "formats" / "overread.question-1.schema.json"


def question_schema() -> dict[str, Any]:
    """JSON Schema, draft 2020-12, of one line of a native file."""
    (_,), definitions = msgspec.json.schema_components([QuestionRecord], ref_template="#/$defs/{name}")
    question = definitions.pop("QuestionRecord")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": PATH.name,
        **question,
        "title": "overread.question/1",
        "description": (QuestionRecord.__doc__ or "").partition("\n")[0],
        "allOf": [_condition(each) for each in AnswerFormat],
        "dependentRequired": {"box_grid": ["box_fit"], "box_fit": ["box_grid"]},
        "$defs": dict(sorted(definitions.items())),
    }


def schema_text() -> str:
    """The schema as the file has it."""
    return json.dumps(question_schema(), indent=2, ensure_ascii=False) + "\n"


def _condition(format_: AnswerFormat) -> dict[str, Any]:
    """What a record of that answer format must have."""
    if format_.has_options:
        answer: dict[str, Any] = {"type": "array"} | ({} if format_.takes_several else {"maxItems": 1})
        options: dict[str, Any] = {"type": "array", "minItems": 2}
        then: dict[str, Any] = {"required": ["options"], "properties": {"options": options, "answer": answer}}
    else:
        answer = {"enum": list(format_.words)} if format_.words else {"type": "string"}
        then = {"properties": {"options": {"maxItems": 0}, "answer": answer}}
    return {"if": {"properties": {"format": {"const": format_.value}}}, "then": then}


if __name__ == "__main__":
    PATH.write_text(schema_text(), encoding="utf-8")
