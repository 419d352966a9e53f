"""Conversion of JSON and plain values to types, safe in several threads.

msgspec collects the fields of a class when the class is first used, and a second thread that uses the class
meanwhile crashes the process (msgspec 0.22). Here, one thread at a time prepares a type; afterwards, decoders
need no lock. All other modules convert to types through these functions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_lock = threading.Lock()


def make_decoder(
    as_type: type[T], *, dec_hook: Callable[[type, Any], Any] | None = None
) -> msgspec.json.Decoder[T]:
    """Return a decoder of JSON to a type.

    Args:
        as_type: the type.
        dec_hook: converts values of types that msgspec does not know.
    """
    with _lock:
        return msgspec.json.Decoder(as_type, dec_hook=dec_hook)


def make_converter(as_type: type[T], *, from_attributes: bool = False) -> Callable[[object], T]:
    """Return a function that converts plain values to a type.

    Args:
        as_type: the type.
        from_attributes: whether values may also be objects with the fields as attributes.
    """
    make_decoder(as_type)
    return partial(msgspec.convert, type=as_type, from_attributes=from_attributes)


def decode_json(
    text: str | bytes, as_type: type[T], *, dec_hook: Callable[[type, Any], Any] | None = None
) -> T:
    """Decode one JSON text; for many, :func:`make_decoder` is faster.

    Raises:
        msgspec.DecodeError: the text is not JSON.
        msgspec.ValidationError: it does not fit the type.
    """
    return make_decoder(as_type, dec_hook=dec_hook).decode(text)


def convert_plain(value: object, as_type: type[T]) -> T:
    """Convert one plain value; for many, :func:`make_converter` is faster.

    Raises:
        msgspec.ValidationError: the value does not fit the type.
    """
    return make_converter(as_type)(value)
