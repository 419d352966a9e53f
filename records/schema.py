"""Builds the published JSON Schema of ``overread.question/1`` from the record.

``python -m records.schema`` rewrites the file in docs/formats/. A test checks that the file is up to date.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from domain.vocabulary import AnswerFormat
from records.questions import QuestionRecord

SCHEMA_PATH = Path(__file__).resolve().parents[1] / "docs" / "formats" / "overread.question-1.schema.json"


def build_question_schema() -> dict[str, Any]:
    """Build the JSON Schema (draft 2020-12) of one line of a native file."""
    (_,), definitions = msgspec.json.schema_components([QuestionRecord], ref_template="#/$defs/{name}")
    question = definitions.pop("QuestionRecord")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_PATH.name,
        **question,
        "title": "overread.question/1",
        "description": (QuestionRecord.__doc__ or "").partition("\n")[0],
        "allOf": [_build_format_condition(answer_format) for answer_format in AnswerFormat],
        "dependentRequired": {"box_grid": ["box_fit"], "box_fit": ["box_grid"]},
        "$defs": dict(sorted(definitions.items())),
    }


def render_schema() -> str:
    """Render the content of the schema file."""
    return json.dumps(build_question_schema(), indent=2, ensure_ascii=False) + "\n"


def _build_format_condition(format_: AnswerFormat) -> dict[str, Any]:
    """Build the condition for the records of an answer format."""
    if format_.has_options:
        answer: dict[str, Any] = {"type": "array"} | ({} if format_.allows_multiple else {"maxItems": 1})
        options: dict[str, Any] = {"type": "array", "minItems": 2}
        then: dict[str, Any] = {"required": ["options"], "properties": {"options": options, "answer": answer}}
    else:
        answer = {"enum": list(format_.fixed_answers)} if format_.fixed_answers else {"type": "string"}
        then = {"properties": {"options": {"maxItems": 0}, "answer": answer}}
    return {"if": {"properties": {"format": {"const": format_.value}}}, "then": then}


if __name__ == "__main__":
    SCHEMA_PATH.write_text(render_schema(), encoding="utf-8")
