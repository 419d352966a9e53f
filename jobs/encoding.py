"""Encodes the parameters, checkpoints and results of jobs as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from records.decoding import decode_json

T = TypeVar("T")


def to_json(value: object) -> str:
    """Encode dataclasses, enums, paths and plain values as JSON."""
    return msgspec.json.encode(value, enc_hook=_encode_path).decode()


def from_json(text: str, as_type: type[T]) -> T:
    """Decode the output of :func:`to_json`."""
    return decode_json(text, as_type, dec_hook=_decode_path)


def _encode_path(value: object) -> str:
    if not isinstance(value, Path):
        raise TypeError(f"{type(value).__name__} can't be stored with a job")
    return str(value)


def _decode_path(as_type: type, value: object) -> Path:
    if as_type is not Path or not isinstance(value, str):
        raise TypeError(f"{as_type.__name__} can't be stored with a job")
    return Path(value)
