"""Errors that occur while image files are read. Their text is shown on screen."""

from __future__ import annotations

import struct
import zlib
from functools import partial
from typing import Any

from domain.errors import DomainError


class UnreadableImage(DomainError):
    """An image file can't be shown.

    ``name`` is the file name. ``attribute`` is the part of the file that caused the error, if it is known: a
    DICOM attribute with its tag, a chunk of a PNG, or a segment of a JPEG.
    """

    def __init__(self, name: str, reason: str, *, attribute: str | None = None) -> None:
        super().__init__(f"{name}: {attribute}: {reason}" if attribute else f"{name}: {reason}")
        self.name = name
        self.reason = reason
        self.attribute = attribute

    def __reduce__(self) -> tuple[Any, ...]:
        """Make the error picklable, because another process may raise it."""
        return partial(UnreadableImage, attribute=self.attribute), (self.name, self.reason)


class DamagedContent(ValueError):
    """Content that our own parsers refuse. The error text contains no bytes of the content."""


def describe_damage(error: BaseException) -> str:
    """Describe for an error message what is wrong with a file.

    The messages of most libraries are not used: they may contain bytes of a damaged value, and these may name
    the patient. The messages of codecs (RuntimeError) contain no bytes of the file.
    """
    match error:
        case UnicodeError():
            return "a text contains bytes outside its character set"
        case zlib.error():
            return "compressed data can't be decompressed"
        case EOFError() | IndexError() | struct.error():
            return "a value is truncated"
        case DamagedContent() | RuntimeError() if str(error):
            return str(error).splitlines()[0][:200]
        case _:
            return "a value has the wrong type or length"
