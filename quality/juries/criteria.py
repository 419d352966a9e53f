"""Reads the criteria of a jury from the schema of a check's prompt, and the answers from replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from domain.checks import JURY_CHECKS, Check
from domain.errors import InvalidValue
from domain.juries import CriterionAnswer, JuryCriterion
from domain.questions import Question, format_answer, option_letter
from language_models.prompts import Prompt
from language_models.requests import ModelRequest
from records.decoding import make_decoder

_PROMPTS = Path(__file__).parent / "prompts"
_TIERS = (CriterionAnswer.EASY, CriterionAnswer.MEDIUM, CriterionAnswer.HARD, CriterionAnswer.INSUFFICIENT)
_YES_NO = (CriterionAnswer.YES, CriterionAnswer.NO, CriterionAnswer.INSUFFICIENT)


def name_prompt(check: Check) -> str:
    """Return the name of the prompt of a check.

    >>> name_prompt(Check.COGNITIVE_DEPTH)
    'jury-cognitive-depth'
    """
    return f"jury-{check.value.replace(' ', '-')}"


#: The checks by the names of their prompts.
CHECKS_BY_PROMPT: Mapping[str, Check] = {name_prompt(check): check for check in JURY_CHECKS}


def read_shipped_prompt(check: Check) -> str:
    """Return the prompt file that ships with Overread."""
    return (_PROMPTS / f"{name_prompt(check)}.toml").read_text(encoding="utf-8")


def list_allowed_answers(check: Check) -> tuple[CriterionAnswer, ...]:
    """Return the allowed answers to the criteria of a check."""
    return _TIERS if check is Check.DIFFICULTY else _YES_NO


def read_criteria(prompt: Prompt) -> tuple[JuryCriterion, ...]:
    """Return the criteria of a prompt: the properties of its schema, in the order of ``required``.

    Raises:
        InvalidValue: the prompt belongs to no check, or uses other variables, or a criterion is not an
            object with ``reason`` and one of the allowed answers.
    """
    check = CHECKS_BY_PROMPT.get(prompt.name)
    if check is None:
        raise InvalidValue(
            "prompt",
            f"{prompt.name} is not the prompt of a jury check; the prompts are {', '.join(CHECKS_BY_PROMPT)}",
        )
    unknown_variables = sorted(set(prompt.variables) - set(_VARIABLES))
    if unknown_variables or "question" not in prompt.variables:
        raise InvalidValue(
            "prompt", f"{prompt.name} must use ${{question}}, and no variables but {', '.join(_VARIABLES)}"
        )
    schema = prompt.schema or {}
    properties = schema.get("properties", {})
    criteria = [name for name in schema.get("required", ()) if name in properties]
    if not criteria or (check is Check.DIFFICULTY and len(criteria) != 1):
        raise InvalidValue("schema", f"{prompt.name} must have {'one criterion' if criteria else 'criteria'}")
    for name in criteria:
        _check_criterion(properties[name], name, check)
    return tuple(
        JuryCriterion(id=name, criterion=properties[name].get("description", "")) for name in criteria
    )


def _check_criterion(schema: Mapping[str, Any], name: str, check: Check) -> None:
    fields = schema.get("properties", {})
    answers = fields.get("answer", {}).get("enum", ())
    allowed = [answer.value for answer in list_allowed_answers(check)]
    if set(fields) != {"answer", "reason"} or sorted(answers) != sorted(allowed):
        raise InvalidValue(
            f"schema {name}",
            f"must be an object with reason and answer, which is one of {', '.join(allowed)}",
        )


def build_request(
    prompt: Prompt, question: Question, report: str | None, *, question_row_id: int
) -> ModelRequest:
    """Build the request for one question. Its custom id is the id of the question in the database.

    Args:
        prompt: the prompt, which :func:`read_criteria` accepts.
        question: the question.
        report: the report of the exam; None if there is none.
        question_row_id: the id of the question in the database.
    """
    values = {
        "question": _describe_question(question),
        "answer": format_answer(question.answer, question.options),
        "explanation": question.explanation.strip() or "none",
        "report": (report or "").strip() or "There is no report.",
    }
    return prompt.build_request(
        custom_id=str(question_row_id), values={name: values[name] for name in prompt.variables}
    )


#: The variables that a prompt of a check may use.
_VARIABLES = ("question", "answer", "explanation", "report")


def _describe_question(question: Question) -> str:
    options = [f"{option_letter(index)}. {text}" for index, text in enumerate(question.options)]
    return "\n".join([f"Question ({question.format.value}): {question.stem}", *options])


class _CriterionReply(msgspec.Struct):
    answer: CriterionAnswer
    reason: str = ""


_decoder = make_decoder(dict[str, _CriterionReply])


def read_answers(
    reply: str, criteria: Sequence[JuryCriterion]
) -> tuple[tuple[CriterionAnswer, ...], tuple[str, ...]]:
    """Return the answers and the reasons of a reply, in the order of the criteria.

    Raises:
        InvalidValue: the reply does not have the expected structure.
    """
    try:
        replies_by_criterion = _decoder.decode(reply)
        criterion_replies = [replies_by_criterion[criterion.id] for criterion in criteria]
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InvalidValue("reply", str(error)) from error
    except KeyError as error:
        raise InvalidValue("reply", f"does not have the criterion {error}") from error
    return tuple(entry.answer for entry in criterion_replies), tuple(
        entry.reason for entry in criterion_replies
    )
