"""Decodes JSON strictly: ambiguous or invalid JSON is refused with the field and the reason.

Python's :mod:`json` accepts NaN, keeps the last of two equal keys, and accepts lone surrogates, which would
cause errors later in other modules. Most records are plain (ASCII, no escapes) and pass three fast tests.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any, NoReturn, TypeVar

import msgspec

from domain.errors import InvalidValue

T = TypeVar("T")

_encoder = msgspec.json.Encoder()

#: The maximum length of a record in bytes. The records of question files are far smaller.
MAX_RECORD_BYTES = 1_000_000
#: Control characters except tab and line ends, characters that change the direction of text (so that it looks
#: different from what is stored), and halves of a surrogate pair.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_ERROR_PATH = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")
_TYPE_NAMES = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "array": "a list",
    "object": "an object",
    "null": "null",
    "bool": "true or false",
}


def decode(raw: bytes, decoder: msgspec.json.Decoder[T], *, has_all_fields: bool = False) -> T:
    """Decode a record, with its text normalised to NFC.

    Args:
        raw: one JSON value.
        decoder: the decoder for the record's type.
        has_all_fields: set this if the type has all fields that a record may have, and its encoder omits
            missing ones (``UNSET``, or ``omit_defaults``). A plain record is then not parsed a second time. A
            duplicate key is detected because the encoded record has fewer colons.

    Raises:
        InvalidValue: the record is not valid.
    """
    if not raw.isascii() or b"\\" in raw or b"\x7f" in raw:
        raw = _normalise(raw)
    try:
        record = decoder.decode(raw)
    except msgspec.ValidationError as error:
        decode_strictly(raw)  # the cause may be a duplicate key, which has a better message
        raise explain_error(error) from error
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        decode_strictly(raw)
        raise InvalidValue("record", "is not valid JSON") from None
    if not has_all_fields or _has_duplicate_key(raw, record):
        decode_strictly(raw)
    return record


def decode_plain_lines(raw_records: list[bytes], decoder: msgspec.json.Decoder[T]) -> list[T] | None:
    """Decode many plain lines together; None if one of them is not plain or not valid.

    Args:
        raw_records: the lines, one record per line, without line ends.
        decoder: a decoder for a type with all fields; see ``has_all_fields`` in :func:`decode`.
    """
    block = b"\n".join(raw_records)
    if not block.isascii() or b"\\" in block or b"\x7f" in block:
        return None
    try:
        records = decoder.decode_lines(block)
    except (msgspec.MsgspecError, RecursionError):
        return None
    is_valid = len(records) == len(raw_records) and not _has_duplicate_key(block, records)
    return records if is_valid else None


def _has_duplicate_key(raw: bytes, records: object) -> bool:
    """Return whether plain records have a duplicate key. If so, they have fewer colons when encoded again."""
    return raw.count(b":") != _encoder.encode(records).count(b":")


def decode_strictly(raw: bytes) -> Any:  # noqa: ANN401  # any JSON value
    """Decode JSON text, and refuse it if it is ambiguous.

    Raises:
        InvalidValue: invalid or truncated JSON, NaN or Infinity, a duplicate key, too deep nesting, or
            characters that are not allowed.
    """
    try:
        value = json.loads(
            _decode_utf8(raw), object_pairs_hook=_refuse_duplicate_keys, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise InvalidValue("record", "is nested too deeply") from None
    except json.JSONDecodeError as error:
        is_truncated = error.pos >= len(raw.rstrip()) - 1 or error.msg.startswith("Unterminated string")
        hint = "; the file may be truncated" if is_truncated else ""
        raise InvalidValue(
            "record", (f"is not valid JSON: {error.msg}, character {error.pos + 1}{hint}")
        ) from None
    except ValueError as error:  # an InvalidValue, or an integer with thousands of digits
        if isinstance(error, InvalidValue):
            raise
        raise InvalidValue("record", f"is not valid JSON: {error}") from None
    problem = _find_forbidden(value, "")
    if problem is not None:
        raise InvalidValue(*problem)
    return value


def _decode_utf8(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = raw[error.start]
        raise InvalidValue(
            "encoding",
            f"byte {byte:#04x} at position {error.start + 1} of the record is not UTF-8; save the file"
            " as UTF-8",
        ) from None


def _normalise(raw: bytes) -> bytes:
    text = _decode_utf8(raw)
    if "\\u" in text or "\\b" in text or "\\f" in text or _FORBIDDEN.search(text):
        text = json.dumps(decode_strictly(raw), ensure_ascii=False)
    return unicodedata.normalize("NFC", text).encode("utf-8")


def _refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        duplicate = next(name for name in names if names.count(name) > 1)
        raise InvalidValue(duplicate, "occurs twice in one object; keep only one")
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidValue(
        "record", (f"contains {name}, which is not a valid JSON number; use null for unknown values")
    )


def _find_forbidden(value: object, path: str) -> tuple[str, str] | None:
    """Return (field, reason) for the first text with forbidden characters; None if there is none."""
    if isinstance(value, str):
        match = _FORBIDDEN.search(value)
        if match is None:
            return None
        return path or "record", f"contains {_describe_forbidden(ord(match[0]))}, U+{ord(match[0]):04X}"
    if isinstance(value, dict):
        for name, inner in value.items():
            problem = _find_forbidden(name, path) or _find_forbidden(
                inner, f"{path}.{name}" if path else name
            )
            if problem:
                return problem
    if isinstance(value, list):
        for position, inner in enumerate(value):
            problem = _find_forbidden(inner, f"{path}[{position}]")
            if problem:
                return problem
    return None


def _describe_forbidden(code: int) -> str:
    if 0xD800 <= code <= 0xDFFF:
        return "an incomplete surrogate pair"
    return "a character that changes the direction of text" if code >= 0x202A else "a control character"


def explain_error(error: msgspec.ValidationError) -> InvalidValue:
    """Convert msgspec's validation error to a message for the user: the field, and the expected type."""
    text = str(error)
    path_match = _ERROR_PATH.search(text)
    path = path_match["path"] if path_match else ""
    text = _ERROR_PATH.sub("", text)
    field_match = re.match(r"Object (missing required|contains unknown) field `(.*)`", text)
    if field_match:
        field = f"{path}.{field_match[2]}" if path else field_match[2]
        reason = (
            "is missing"
            if field_match[1].startswith("missing")
            else ("is not a field of this format; check the spelling")
        )
        return InvalidValue(field, reason)
    type_match = re.match(r"Expected `(.*)`, got `(.*)`", text)
    if type_match:
        expected = " or ".join(
            _TYPE_NAMES.get(type_name, type_name) for type_name in type_match[1].split(" | ")
        )
        return InvalidValue(
            path or "record", f"must be {expected}, not {_TYPE_NAMES.get(type_match[2], type_match[2])}"
        )
    length_match = re.match(r"Expected `array` of length (\d+)", text)
    if length_match:
        return InvalidValue(path or "record", f"must be a list of {length_match[1]} values")
    enum_match = re.match(r"Invalid enum value '?(.*?)'?$", text)
    if enum_match:
        return InvalidValue(path or "record", f"{enum_match[1]!r} is not one of the allowed values")
    return InvalidValue(path or "record", text[:1].lower() + text[1:])
