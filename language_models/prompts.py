"""A prompt: a TOML file with texts, variables, the schema of the reply, parameters and in-context examples.

    name = "mcq-from-report"
    system = "You write questions for radiologists."
    user = "Report: ${report}"

    [parameters]
    temperature = 0
    max_tokens = 600

    [schema]
    type = "object"
    additionalProperties = false
    required = ["question"]
    properties.question.type = "string"

    [[examples]]
    dataset = "mimic"
    variables.report = "The heart is enlarged."
    images = ["<SHA-256 of a radiograph>"]
    reply = '{"question": "…"}'

Variables have the form of ``string.Template``: ``${name}``; a dollar sign is ``$$``. ``dataset`` names the
dataset that the texts and radiographs of an example are from, so that its data use is checked in each run.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from string import Template
from typing import Any

import msgspec

from domain.errors import InvalidValue
from domain.exams import Exam
from domain.language_models import FailureKind
from language_models.replies import read_reply
from language_models.requests import IMAGE_PREFIX, Body, ModelRequest, check_strict_schema

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}")
_FIELDS = {"name", "system", "user", "parameters", "schema", "examples"}
_EXAMPLE_FIELDS = {"dataset", "variables", "images", "reply"}
_RESERVED_PARAMETERS = {"messages", "model", "response_format", "stream", "n"}
_SHA256 = re.compile("[0-9a-f]{64}")
#: The variables that can be filled in from an exam.
EXAM_VARIABLES = ("report", "indication", "age", "sex")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An in-context example: values of the variables, and the reply that is wanted.

    ``images`` are the SHA-256 of its radiographs. ``dataset`` is the dataset that text and radiographs are
    from; None if they are not from a dataset.
    """

    variables: Mapping[str, str]
    reply: str
    images: tuple[str, ...] = ()
    dataset: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt as in its file; see the module. ``variables`` are the names that the texts use, sorted."""

    name: str
    system: str
    user: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    examples: tuple[Example, ...] = ()
    variables: tuple[str, ...] = ()

    def build_request(
        self, *, custom_id: str, values: Mapping[str, str], images: Sequence[str] = ()
    ) -> ModelRequest:
        """Fill in the prompt.

        Args:
            custom_id: the id of the request.
            values: text by name of the variable.
            images: SHA-256 of the radiographs, which follow the text.

        Raises:
            InvalidValue: a variable is missing or unknown.
        """
        self._check_values(values, custom_id)
        messages: list[dict[str, Any]] = []
        if self.system:
            messages.append({"role": "system", "content": Template(self.system).substitute(values)})
        for example in self.examples:
            messages.append(self._build_user_message(example.variables, example.images))
            messages.append({"role": "assistant", "content": example.reply})
        messages.append(self._build_user_message(values, images))
        body: Body = {**self.parameters, "messages": messages}
        if self.schema is not None:
            json_schema = {"name": self.name.replace("-", "_")[:60], "strict": True, "schema": self.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": json_schema}
        return ModelRequest(custom_id=custom_id, body=body)

    def _build_user_message(self, values: Mapping[str, str], images: Sequence[str]) -> dict[str, Any]:
        text = Template(self.user).substitute(values)
        pictures = [
            {"type": "image_url", "image_url": {"url": f"{IMAGE_PREFIX}{sha256}"}} for sha256 in images
        ]
        return {"role": "user", "content": [{"type": "text", "text": text}, *pictures] if pictures else text}

    def _check_values(self, values: Mapping[str, str], custom_id: str) -> None:
        missing = sorted(set(self.variables) - set(values))
        unknown = sorted(set(values) - set(self.variables))
        if missing:
            raise InvalidValue(custom_id, f"has no value for: {', '.join(missing)}")
        if unknown:
            raise InvalidValue(
                custom_id, f"must not have a value for: {', '.join(unknown)}. The prompt does not use it."
            )


def parse_prompt(content: str) -> Prompt:
    """Read a prompt file and check it.

    Raises:
        InvalidValue: the file is not TOML, or a field is missing, unknown or not valid.
    """
    try:
        fields = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise InvalidValue("prompt", f"is not valid TOML: {error}") from error
    unknown = sorted(set(fields) - _FIELDS)
    if unknown:
        raise InvalidValue(
            "prompt", f"must not contain: {', '.join(unknown)}. Known fields: {', '.join(sorted(_FIELDS))}"
        )
    name = fields.get("name", "")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidValue("name", f"must have 1 to 61 characters of a-z, 0-9, - and _, not {name!r}")
    system, user = _read_text(fields, "system"), _read_text(fields, "user")
    if not user.strip():
        raise InvalidValue("user", "must not be empty")
    # The system message is sent once, before the examples, so its variables cannot differ between them.
    used_variables = {*_list_variables(system, "system"), *_list_variables(user, "user")}
    schema = fields.get("schema")
    if schema is not None:
        check_strict_schema(schema)
    prompt = Prompt(
        name=name,
        system=system,
        user=user,
        parameters=_read_parameters(fields),
        schema=schema,
        examples=tuple(
            _read_example(example, number, set(_list_variables(user, "user")), schema)
            for number, example in enumerate(fields.get("examples", ()), start=1)
        ),
        variables=tuple(sorted(used_variables)),
    )
    prompt.build_request(custom_id="prompt", values=dict.fromkeys(used_variables, "x"))  # checks parameters
    return prompt


def hash_prompt(content: str) -> str:
    """Return the SHA-256 of a prompt file. Line endings and white space at its end are ignored."""
    return hashlib.sha256(normalise_prompt(content).encode()).hexdigest()


def normalise_prompt(content: str) -> str:
    """Return a prompt file with LF line ends and exactly one newline at the end."""
    return content.replace("\r\n", "\n").rstrip() + "\n"


@lru_cache(maxsize=64)
def list_example_datasets(content: str) -> tuple[str, ...]:
    """Return the names of the datasets that the examples of a prompt file are from, sorted."""
    return tuple(sorted({example.dataset for example in parse_prompt(content).examples if example.dataset}))


def list_example_variables(prompt: Prompt) -> tuple[str, ...]:
    """Return the names of the variables that each example has, which are the ones in ``user``, sorted."""
    return tuple(sorted(_list_variables(prompt.user, "user")))


def read_exam_variables(exam: Exam) -> dict[str, str]:
    """Return {name: value} for the ``EXAM_VARIABLES`` of an exam; variables without a value are omitted."""
    sex = exam.sex.value if exam.sex else None
    values = (exam.report, exam.indication, exam.age, sex)
    return {name: value for name, value in zip(EXAM_VARIABLES, values, strict=True) if value}


def read_variables(template: str, message: str) -> dict[str, str]:
    """Recover the values of the variables from a message that was built from this template.

    Raises:
        InvalidValue: the message was not built from this template.

    >>> read_variables("Report: ${report}", "Report: The heart is enlarged.")
    {'report': 'The heart is enlarged.'}
    """
    names = Template(template).get_identifiers()
    pattern = re.escape(Template(template).substitute({name: f"\0{name}\0" for name in names}))
    for name in names:
        mark = re.escape(f"\0{name}\0")
        pattern = pattern.replace(mark, f"(?P<{name}>.*)", 1).replace(mark, f"(?P={name})")
    match = re.fullmatch(pattern, message, re.DOTALL)
    if match is None:
        raise InvalidValue("request", "was not made from the text of this prompt version")
    return match.groupdict()


def add_examples(content: str, examples: Sequence[Example]) -> str:
    """Return a prompt file with further examples at its end. Examples that it already has are left out.

    Raises:
        InvalidValue: the extended file is not valid, for example because a reply does not match the schema.
    """
    existing = parse_prompt(content).examples
    new_examples: list[Example] = []
    for example in examples:
        if example not in (*existing, *new_examples):
            new_examples.append(example)
    blocks = "".join(f"\n{_format_example(example)}" for example in new_examples)
    extended = normalise_prompt(content) + blocks
    parse_prompt(extended)
    return extended


def _format_example(example: Example) -> str:
    lines = ["[[examples]]"]
    if example.dataset is not None:
        lines.append(f"dataset = {_format_text(example.dataset)}")
    lines += [f"variables.{name} = {_format_text(text)}" for name, text in sorted(example.variables.items())]
    if example.images:
        lines.append(f"images = [{', '.join(_format_text(sha256) for sha256 in example.images)}]")
    lines.append(f"reply = {_format_text(example.reply)}")
    return "\n".join(lines) + "\n"


def _format_text(text: str) -> str:
    """Return text as a TOML string. Text with line breaks has several lines, so that diffs are readable."""
    lines = [_escape_line(line) for line in text.split("\n")]
    return f'"{lines[0]}"' if len(lines) == 1 else '"""\n' + "\n".join(lines) + '"""'


def _escape_line(line: str) -> str:
    # A line escaped as JSON is also a TOML string, except that TOML does not allow DEL.
    return json.dumps(line, ensure_ascii=False)[1:-1].replace("\x7f", "\\u007f")


def compare_prompts(old: str, new: str, *, old_name: str, new_name: str) -> str:
    """Return the differences of two prompt files as a unified diff; "" if there are none."""
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), fromfile=old_name, tofile=new_name, lineterm=""
    )
    return "\n".join(lines)


def _read_text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise InvalidValue(name, "must be text")
    return value


def _list_variables(text: str, field_name: str) -> list[str]:
    template = Template(text)
    if not template.is_valid():
        raise InvalidValue(
            field_name, "contains a $ that does not start a variable; write $$ for a dollar sign"
        )
    return template.get_identifiers()


def _read_parameters(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    parameters = fields.get("parameters", {})
    if not isinstance(parameters, dict):
        raise InvalidValue("parameters", "must be a table")
    reserved = sorted(_RESERVED_PARAMETERS & set(parameters))
    if reserved:
        raise InvalidValue("parameters", f"must not contain {', '.join(reserved)}")
    return parameters


def _read_example(
    example: object, number: int, user_variables: set[str], schema: Mapping[str, Any] | None
) -> Example:
    path = f"examples {number}"
    if not isinstance(example, dict) or set(example) - _EXAMPLE_FIELDS:
        raise InvalidValue(path, f"must have no fields but {', '.join(sorted(_EXAMPLE_FIELDS))}")
    variables, reply = example.get("variables", {}), example.get("reply")
    if not isinstance(reply, str) or not reply.strip():
        raise InvalidValue(f"{path} reply", "must be text")
    if not isinstance(variables, dict) or set(variables) != user_variables:
        raise InvalidValue(
            f"{path} variables",
            f"must have the variables of user: {', '.join(sorted(user_variables)) or 'none'}",
        )
    if not all(isinstance(value, str) for value in variables.values()):
        raise InvalidValue(f"{path} variables", "must be strings")
    if schema is not None:
        _check_example_reply(reply, schema, path)
    images, dataset = _read_example_images(example, path), example.get("dataset")
    if dataset is not None and not isinstance(dataset, str):
        raise InvalidValue(f"{path} dataset", "must be the name of a dataset")
    if images and not dataset:
        raise InvalidValue(f"{path} dataset", "must name the dataset of the radiographs")
    return Example(variables=variables, reply=reply, images=images, dataset=dataset)


def _read_example_images(example: Mapping[str, Any], path: str) -> tuple[str, ...]:
    images = example.get("images", [])
    if not isinstance(images, list) or not all(
        isinstance(image, str) and _SHA256.fullmatch(image) for image in images
    ):
        raise InvalidValue(
            f"{path} images", "must be a list of SHA-256 hashes, each with 64 characters 0-9 or a-f"
        )
    return tuple(images)


def _check_example_reply(reply: str, schema: Mapping[str, Any], path: str) -> None:
    body = {"choices": [{"message": {"content": reply}}]}
    outcome = read_reply(msgspec.json.encode(body).decode(), schema=schema, expected_models=())
    if outcome.failure in (FailureKind.INVALID_JSON, FailureKind.WRONG_SCHEMA):
        raise InvalidValue(f"{path} reply", f"does not match the schema. {outcome.error}")
