"""Reads the body of a response: the text, the numbers of tokens, and the reason if the text is not usable."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from domain.language_models import FailureKind, Usage
from records.decoding import make_decoder

_FENCE = re.compile(r"\A\s*```[a-zA-Z0-9_-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_MAX_ERROR_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A response that was read.

    ``output`` is the text of the reply without code fences; None if it cannot be used, with the reason in
    ``failure`` and ``error``. ``content`` is the text as the model wrote it.
    """

    output: str | None
    content: str
    failure: FailureKind | None = None
    error: str = ""
    model: str | None = None
    fingerprint: str | None = None
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Details(msgspec.Struct):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int | None = 0
    prompt_tokens_details: _Details | None = None


class _Body(msgspec.Struct):
    choices: list[_Choice]
    model: str | None = None
    system_fingerprint: str | None = None
    usage: _Usage | None = None


_decoder = make_decoder(_Body)


def read_reply(raw: str, *, schema: Mapping[str, Any] | None, expected_models: tuple[str, ...]) -> Reply:
    """Read the body of a response with status 200.

    Args:
        raw: the body.
        schema: the JSON schema of the reply; None if any text is allowed.
        expected_models: names under which the server may answer. A dated version of a name is accepted.
    """
    try:
        body = _decoder.decode(raw)
    except msgspec.DecodeError as problem:
        return Reply(
            output=None,
            content="",
            failure=FailureKind.BAD_RESPONSE,
            error=f"The response is not a chat completion: {problem}.",
        )
    usage = body.usage or _Usage()
    details = usage.prompt_tokens_details or _Details()
    choice = body.choices[0] if body.choices else _Choice(message=_Message())
    content = choice.message.content or ""
    output = strip_fences(content)
    failure, error = _find_failure(body, choice, output, schema, expected_models)
    return Reply(
        output=None if failure else output,
        content=content,
        failure=failure,
        error=error,
        model=body.model,
        fingerprint=body.system_fingerprint,
        finish_reason=choice.finish_reason,
        usage=Usage(
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens or 0,
            cached_tokens=details.cached_tokens or 0,
        ),
    )


def strip_fences(content: str) -> str:
    r"""Return the text inside one code fence, if the whole text is fenced; otherwise the text itself.

    >>> strip_fences("```json\n{}\n```")
    '{}'
    """
    fenced = _FENCE.match(content)
    return fenced[1] if fenced else content


def is_same_model(reported: str, expected: str) -> bool:
    """Whether the model name that a server reports denotes the expected model.

    It does if it is the same name, a dated version of it, or a path that ends in the same file name.

    >>> is_same_model("gpt-4o-2024-08-06", "gpt-4o"), is_same_model("gpt-4o-mini", "gpt-4o")
    (True, False)
    """
    version = reported.removeprefix(f"{expected}-")
    is_dated = version != reported and re.fullmatch(r"\d{4}-?\d{2}-?\d{2}|\d{4}", version) is not None
    return reported == expected or is_dated or reported.rpartition("/")[2] == expected.rpartition("/")[2]


def _find_failure(
    body: _Body, choice: _Choice, output: str, schema: Mapping[str, Any] | None, expected: tuple[str, ...]
) -> tuple[FailureKind | None, str]:
    if body.model and not any(is_same_model(body.model, name) for name in expected):
        return (
            FailureKind.WRONG_MODEL,
            f"The server answered as {body.model}, not as {' or '.join(expected)}.",
        )
    if choice.message.refusal:
        return FailureKind.REFUSAL, choice.message.refusal[:_MAX_ERROR_CHARS]
    match choice.finish_reason:
        case "content_filter":
            return FailureKind.CONTENT_FILTER, "The provider's content filter removed the reply."
        case "length":
            return FailureKind.LENGTH, "The reply was cut off at the limit of tokens."
    if not output.strip():
        return FailureKind.EMPTY, "The reply is empty."
    return _validate(output, schema) if schema is not None else (None, "")


def _validate(output: str, schema: Mapping[str, Any]) -> tuple[FailureKind | None, str]:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to import, and only needed where replies are read
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - as above

    try:
        value = msgspec.json.decode(output)
    except msgspec.DecodeError as error:
        return FailureKind.INVALID_JSON, f"The reply is not valid JSON: {error}."
    problem = best_match(Draft202012Validator(schema).iter_errors(value))
    if problem is None:
        return None, ""
    place = "".join(f"[{part!r}]" for part in problem.absolute_path) or "the top level"
    return FailureKind.WRONG_SCHEMA, f"At {place}: {problem.message[:_MAX_ERROR_CHARS]}."
