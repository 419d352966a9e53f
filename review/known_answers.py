"""Reads files with known errors of questions, from which practice sets are made."""

from __future__ import annotations

from typing import Any

from domain.errors import InvalidValue
from domain.practice import KnownAnswer
from domain.verdicts import Decision, ErrorKind
from records.values import from_json

_FIELDS = {"errors", "explanation"}


def parse_known_answers(text: str, *, file_name: str) -> dict[str, KnownAnswer]:
    """Parse a JSON object of known answers by question id.

    A value is a kind of error, a list of kinds, or an object with ``errors`` and ``explanation``. An empty
    text or list means that the question has no error.

    Raises:
        InvalidValue: the file is not a JSON object, or a value is not valid; the message names the question.
    """
    try:
        answers = from_json(text)
    except ValueError as error:
        raise InvalidValue(file_name, f"is not valid JSON ({error})") from error
    if not isinstance(answers, dict) or not answers:
        raise InvalidValue(file_name, 'must be a JSON object such as {"question id": "wrong key"}')
    return {
        question_id: _parse_answer(value, name=f"{file_name}, question {question_id}")
        for question_id, value in answers.items()
    }


def _parse_answer(value: Any, *, name: str) -> KnownAnswer:  # noqa: ANN401 - any JSON value
    explanation: Any = ""
    if isinstance(value, dict):
        extra_fields = sorted(value.keys() - _FIELDS)
        if extra_fields:
            raise InvalidValue(
                name, f"has unknown fields: {', '.join(extra_fields)}; use errors and explanation"
            )
        value, explanation = value.get("errors", []), value.get("explanation", "")
    kinds = ([value] if value else []) if isinstance(value, str) else value
    if not isinstance(kinds, list) or not isinstance(explanation, str):
        raise InvalidValue(name, "must be a kind of error, a list of kinds, or errors with an explanation")
    known_kinds = {kind.value for kind in ErrorKind}
    for kind in kinds:
        if not isinstance(kind, str) or kind not in known_kinds:
            raise InvalidValue(name, f"{kind!r} is no kind of error; use one of: {', '.join(ErrorKind)}")
    return KnownAnswer(
        decision=Decision.REJECT if kinds else Decision.ACCEPT,
        errors=frozenset(map(ErrorKind, kinds)),
        explanation=explanation.strip(),
    )
