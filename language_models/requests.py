"""One request to a model: its checks, its key in the ledger, and its body as it is sent.

A body is the JSON of OpenAI's chat completions without ``model``, which the endpoint sets. A radiograph in it
has the address ``sha256:<hash of the image file>``; its pixels are added when the request is sent, as JPEG.
With ``/png`` or ``/quarter-png`` after the hash they are sent as PNG.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

import msgspec

from domain.errors import InvalidValue
from records.decoding import decode_json

IMAGE_PREFIX = "sha256:"


class ImageFormat(StrEnum):
    """How a radiograph is sent: JPEG of at most 1,024 pixels, PNG, or PNG with a quarter of each side."""

    JPEG = "jpeg"
    PNG = "png"
    QUARTER_PNG = "quarter-png"


#: Tokens that a budget reserves for a radiograph. Providers count 85 to 2,500 for one of 1,024 pixels.
#: Qwen2.5-VL reduces larger ones to 16,384 patches.
IMAGE_TOKENS = {ImageFormat.JPEG: 3_000, ImageFormat.PNG: 16_384, ImageFormat.QUARTER_PNG: 3_000}
#: Tokens that a budget reserves for each message, for its role and separators.
_MESSAGE_TOKENS = 16
_ROLES = ("system", "developer", "user", "assistant")
#: Fields that would change how a call is answered, so that its reply could not be read.
_REFUSED_FIELDS = {"model": "the endpoint sets it", "stream": "replies are read whole", "n": "ask once more"}
_IMAGE_ADDRESS = re.compile(rf"{IMAGE_PREFIX}([0-9a-f]{{64}})(?:/(png|quarter-png))?")
_encoder = msgspec.json.Encoder(order="sorted")

Body = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageReference:
    """A radiograph in a request: the SHA-256 of its file, and the format for the request."""

    sha256: str
    format: ImageFormat = ImageFormat.JPEG

    @property
    def address(self) -> str:
        """The address in the body.

        >>> ImageReference(sha256="ab", format=ImageFormat.PNG).address
        'sha256:ab/png'
        """
        suffix = "" if self.format is ImageFormat.JPEG else f"/{self.format.value}"
        return f"{IMAGE_PREFIX}{self.sha256}{suffix}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A request of a run.

    Attributes:
        custom_id: the caller's id, unique in the run.
        body: the JSON body, see the module.

    Raises:
        InvalidValue: a field of the body is missing or not allowed.
    """

    custom_id: str
    body: Body

    def __post_init__(self) -> None:
        if not self.custom_id or len(self.custom_id) > 200:
            raise InvalidValue("custom_id", "must have 1 to 200 characters")
        try:
            check_body(self.body)
        except InvalidValue as error:
            raise InvalidValue(f"{self.custom_id}: {error.field}", error.reason) from error

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema of the reply; None if any text is allowed."""
        return find_schema(self.body)

    @property
    def images(self) -> list[str]:
        """The SHA-256 of the radiographs, in order."""
        return [image.sha256 for image in _list_images(self.body)]

    def compute_key(self, *, stage: str, model: str, prompt_sha256: str | None) -> str:
        """Compute the key of the request in the ledger: equal keys have equal replies."""
        values = {"stage": stage, "model": model, "prompt": prompt_sha256, "body": self.body}
        return hashlib.sha256(_encoder.encode(values)).hexdigest()

    def count_reserved_tokens(self) -> tuple[int, int]:
        """Return the most tokens that prompt and reply can have.

        A token is at least one byte of UTF-8. The second number is 0 if the body sets no limit.
        """
        texts = sum(len(text.encode()) for text in _list_texts(self.body))
        schema = len(_encoder.encode(self.schema)) if self.schema is not None else 0
        messages = _MESSAGE_TOKENS * len(self.body["messages"])
        reply = self.body.get("max_completion_tokens") or self.body.get("max_tokens") or 0
        images = sum(IMAGE_TOKENS[image.format] for image in _list_images(self.body))
        return texts + schema + messages + images, reply


def encode_body(body: Body) -> str:
    """Encode a body as JSON.

    The fields keep their order: models write the fields of a reply in the order of its schema, so a reason
    before an answer stays before it.
    """
    return msgspec.json.encode(body).decode()


def decode_body(text: str) -> Body:
    """Decode the output of :func:`encode_body`."""
    body: Body = decode_json(text, dict[str, Any])
    return body


def build_wire_body(body: Body, *, model: str, find_image: Callable[[ImageReference], str]) -> Body:
    """Build the body that is sent: with the model, and radiographs as data addresses.

    Args:
        find_image: returns the data address ("data:image/jpeg;base64,…") of an image.
    """
    return {
        **body,
        "model": model,
        "messages": [_insert_images(message, find_image) for message in body["messages"]],
    }


def add_repair(body: Body, *, reply: str, error: str) -> Body:
    """Return the body with the model's faulty reply and a message that asks for a corrected one."""
    correction_request = f"Your reply cannot be used: {error} Reply again, with the corrected JSON only."
    return {
        **body,
        "messages": [
            *body["messages"],
            {"role": "assistant", "content": reply},
            {"role": "user", "content": correction_request},
        ],
    }


def check_body(body: Body) -> None:
    """Check a body.

    Raises:
        InvalidValue: a field is missing or not allowed.
    """
    for field, reason in _REFUSED_FIELDS.items():
        if field in body:
            raise InvalidValue(field, f"is not allowed in a request: {reason}")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidValue("messages", "must be a list with at least one message")
    for number, message in enumerate(messages, start=1):
        _check_message(message, f"messages {number}")
    for field in ("max_tokens", "max_completion_tokens"):
        limit = body.get(field)
        if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
            raise InvalidValue(field, f"must be a whole number of at least 1, not {limit!r}")
    schema = find_schema(body)
    if schema is not None:
        check_strict_schema(schema)


def find_schema(body: Body) -> Mapping[str, Any] | None:
    """Return the JSON schema of the reply; None if the body asks for none.

    Raises:
        InvalidValue: the field ``response_format`` is not of a known form.
    """
    response_format = body.get("response_format")
    if response_format is None or response_format == {"type": "text"}:
        return None
    if isinstance(response_format, dict) and response_format.get("type") == "json_object":
        return {"type": "object"}
    schema = response_format.get("json_schema") if isinstance(response_format, dict) else None
    if not isinstance(schema, dict) or not isinstance(schema.get("schema"), dict):
        raise InvalidValue("response_format", "must have the type text, json_object or json_schema")
    inner: Mapping[str, Any] = schema["schema"]
    return inner


def check_strict_schema(schema: Mapping[str, Any]) -> None:
    """Check that a schema is in the subset that all providers enforce.

    Every object has ``additionalProperties: false`` and requires all its properties.

    Raises:
        InvalidValue: the schema is not in the subset, or is not a JSON schema.
    """
    _check_encoded_schema(_encoder.encode(schema))


@lru_cache(maxsize=64)  # all requests of a run have the same schema, and the check takes milliseconds
def _check_encoded_schema(encoded: bytes) -> None:
    schema = msgspec.json.decode(encoded)
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - a page that makes no request need not wait
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - as above

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise InvalidValue("schema", error.message) from error
    if schema == {"type": "object"}:
        return
    for path, part in _list_objects(schema, "schema"):
        properties = part.get("properties", {})
        if part.get("additionalProperties") is not False:
            raise InvalidValue(path, "needs additionalProperties: false")
        missing = sorted(set(properties) - set(part.get("required", ())))
        if missing:
            raise InvalidValue(
                path, f"must require all its properties; {', '.join(missing)} is missing in required"
            )


def _list_objects(schema: object, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(schema, Mapping):
        if schema.get("type") == "object" or "properties" in schema:
            yield path, schema
        for name, part in schema.items():
            if name not in {"enum", "const", "required"}:
                yield from _list_objects(part, f"{path} {name}")
    elif isinstance(schema, list):
        for part in schema:
            yield from _list_objects(part, path)


def _check_message(message: object, path: str) -> None:
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        raise InvalidValue(path, f"must have a role of {', '.join(_ROLES)}")
    content = message.get("content")
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not content:
        raise InvalidValue(f"{path} content", "must be text, or a list of texts and images")
    for part in content:
        if not isinstance(part, dict) or part.get("type") not in ("text", "image_url"):
            raise InvalidValue(f"{path} content", "must have parts of the type text or image_url")
        if part["type"] == "text" and not isinstance(part.get("text"), str):
            raise InvalidValue(f"{path} content", "has a part of the type text without text")
        if part["type"] == "image_url" and _read_image(part) is None:
            raise InvalidValue(
                f"{path} content",
                f"must name a radiograph of the workspace as {IMAGE_PREFIX}<hash of the file>, and no other "
                "address",
            )


def _read_image(part: Mapping[str, Any]) -> ImageReference | None:
    image = part.get("image_url")
    address = image.get("url") if isinstance(image, dict) else None
    match = _IMAGE_ADDRESS.fullmatch(address) if isinstance(address, str) else None
    return (
        ImageReference(sha256=match[1], format=ImageFormat(match[2] or ImageFormat.JPEG)) if match else None
    )


def _iterate_parts(body: Body) -> Iterator[Mapping[str, Any]]:
    for message in body["messages"]:
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def _list_texts(body: Body) -> Iterator[str]:
    return (part["text"] for part in _iterate_parts(body) if part["type"] == "text")


def _list_images(body: Body) -> Iterator[ImageReference]:
    return (image for part in _iterate_parts(body) if (image := _read_image(part)) is not None)


def _insert_images(
    message: Mapping[str, Any], find_image: Callable[[ImageReference], str]
) -> Mapping[str, Any]:
    content: str | Sequence[Mapping[str, Any]] = message["content"]
    if isinstance(content, str):
        return message
    return {
        **message,
        "content": [
            part
            if (image := _read_image(part)) is None
            else {**part, "image_url": {**part["image_url"], "url": find_image(image)}}
            for part in content
        ],
    }
