"""Decodes JSON strictly: ambiguous or invalid JSON is refused with the field and the reason.

Python's :mod:`json` accepts NaN, keeps the last of two equal keys, and accepts lone surrogates, which cause
errors later and elsewhere. Most records are plain (ASCII, no escapes) and pass three cheap tests.
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

#: The longest record, in bytes; the records of question files are far smaller.
LONGEST_RECORD = 1_000_000
#: Control characters except tab and line ends, and halves of a surrogate pair.
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_PLACE = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")
_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "array": "a list",
    "object": "an object",
    "null": "null",
    "bool": "true or false",
}


def decode(raw: bytes, decoder: msgspec.json.Decoder[T], *, whole: bool = False) -> T:
    """Decode a record, with its text normalised to NFC.

    Args:
        raw: one JSON value.
        decoder: of the record's type.
        whole: whether the type has all fields that a record may have, ``UNSET`` if missing. A plain record is
            then not parsed a second time: encoded again it has the same number of colons, unless it has a
            duplicate key.

    Raises:
        InvalidValue: the record is not valid; names field and reason.
    """
    if not raw.isascii() or b"\\" in raw or b"\x7f" in raw:
        raw = _normalised(raw)
    try:
        record = decoder.decode(raw)
    except msgspec.ValidationError as error:
        refuse_ambiguous(raw)  # a duplicate key may be the cause, and makes the better message
        raise _explained(error) from error
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        refuse_ambiguous(raw)
        raise InvalidValue("record", "is no JSON") from None
    if not whole or _has_key_twice(raw, record):
        refuse_ambiguous(raw)
    return record


def decode_plain_lines(raws: list[bytes], decoder: msgspec.json.Decoder[T]) -> list[T] | None:
    """Decode many plain lines together; None if one of them is not plain or not valid.

    Args:
        raws: one record each, without line ends.
        decoder: of a type that has all fields that a record may have, as for ``whole`` of :func:`decode`.
    """
    block = b"\n".join(raws)
    if not block.isascii() or b"\\" in block or b"\x7f" in block:
        return None
    try:
        records = decoder.decode_lines(block)
    except (msgspec.MsgspecError, RecursionError):
        return None
    flawless = len(records) == len(raws) and not _has_key_twice(block, records)
    return records if flawless else None


def _has_key_twice(raw: bytes, records: object) -> bool:
    """Whether plain records have a duplicate key; without one they have as many colons when encoded again."""
    return raw.count(b":") != _encoder.encode(records).count(b":")


def refuse_ambiguous(raw: bytes) -> Any:  # noqa: ANN401  # any JSON value
    """Decode JSON text, and refuse it if it is ambiguous.

    Raises:
        InvalidValue: invalid or truncated JSON, NaN or Infinity, a duplicate key, too deep nesting, or
            characters that are not allowed.
    """
    try:
        value = json.loads(_text(raw), object_pairs_hook=_without_doubles, parse_constant=_no_constant)
    except RecursionError:
        raise InvalidValue("record", "is nested too deep") from None
    except json.JSONDecodeError as error:
        cut = error.pos >= len(raw.rstrip()) - 1 or error.msg.startswith("Unterminated string")
        hint = "; the file may be cut off" if cut else ""
        raise InvalidValue("record", f"is no JSON: {error.msg}, character {error.pos + 1}{hint}") from None
    except ValueError as error:
        if isinstance(error, InvalidValue):
            raise
        raise InvalidValue("record", f"is no JSON: {error}") from None  # an integer of thousands of digits
    found = _unwanted_in(value, "")
    if found is not None:
        raise InvalidValue(*found)
    return value


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = raw[error.start]
        raise InvalidValue(
            "encoding",
            f"byte {byte:#04x} at {error.start + 1} of the record is not UTF-8; save the file as UTF-8",
        ) from None


def _normalised(raw: bytes) -> bytes:
    text = _text(raw)
    if "\\u" in text or "\\b" in text or "\\f" in text or _UNWANTED.search(text):
        text = json.dumps(refuse_ambiguous(raw), ensure_ascii=False)
    return unicodedata.normalize("NFC", text).encode("utf-8")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise InvalidValue(double, "is given twice in one object; keep one of them")
    return found


def _no_constant(name: str) -> NoReturn:
    raise InvalidValue("record", f"holds {name}, which is no JSON number; write null where nothing is known")


def _unwanted_in(value: object, path: str) -> tuple[str, str] | None:
    """(field, reason) of the first text with characters that are not allowed."""
    if isinstance(value, str):
        found = _UNWANTED.search(value)
        if found is None:
            return None
        code = ord(found[0])
        what = "half of a surrogate pair" if 0xD800 <= code <= 0xDFFF else "a control character"
        return path or "record", f"holds {what}, U+{code:04X}"
    if isinstance(value, dict):
        for name, inner in value.items():
            found_inside = _unwanted_in(name, path) or _unwanted_in(inner, f"{path}.{name}" if path else name)
            if found_inside:
                return found_inside
    if isinstance(value, list):
        for position, inner in enumerate(value):
            found_inside = _unwanted_in(inner, f"{path}[{position}]")
            if found_inside:
                return found_inside
    return None


def _explained(error: msgspec.ValidationError) -> InvalidValue:
    """Convert msgspec's validation error to a message for the user: the field, and the expected type."""
    text = str(error)
    place = _PLACE.search(text)
    path = place["path"] if place else ""
    text = _PLACE.sub("", text)
    named = re.match(r"Object (missing required|contains unknown) field `(.*)`", text)
    if named:
        field = f"{path}.{named[2]}" if path else named[2]
        reason = (
            "is missing" if named[1].startswith("missing") else "is no field of this format; is it misspelt?"
        )
        return InvalidValue(field, reason)
    kinds = re.match(r"Expected `(.*)`, got `(.*)`", text)
    if kinds:
        wanted = " or ".join(_KINDS.get(kind, kind) for kind in kinds[1].split(" | "))
        return InvalidValue(path or "record", f"must be {wanted}, not {_KINDS.get(kinds[2], kinds[2])}")
    length = re.match(r"Expected `array` of length (\d+)", text)
    if length:
        return InvalidValue(path or "record", f"must be a list of {length[1]}")
    word = re.match(r"Invalid enum value '?(.*?)'?$", text)
    if word:
        return InvalidValue(path or "record", f"{word[1]!r} is none of the words that may stand here")
    return InvalidValue(path or "record", text[:1].lower() + text[1:])
