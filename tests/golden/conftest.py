"""The JSON Schema of the native format, as published in the documentation."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

FORMAT_DOCS = Path(__file__).resolve().parents[2] / "docs" / "formats"


@pytest.fixture(scope="session")
def native_schema() -> Draft202012Validator:
    schema = json.loads((FORMAT_DOCS / "overread.question-1.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
