"""Errors of reading image files; their text is shown on screen as it is."""

from __future__ import annotations

import struct
import zlib

from domain.errors import DomainError


class UnreadableImage(DomainError):
    """An image file that can't be shown.

    ``name`` is that of the file, ``attribute`` the part at fault if it is known (a DICOM attribute with its
    tag, a chunk of a PNG, a segment of a JPEG).
    """

    def __init__(self, name: str, reason: str, *, attribute: str | None = None) -> None:
        super().__init__(f"{name}: {attribute}: {reason}" if attribute else f"{name}: {reason}")
        self.name = name
        self.reason = reason
        self.attribute = attribute


class DamagedContent(ValueError):
    """Content that our own parsers refuse; the text quotes no bytes of it."""


def describe_damage(error: BaseException) -> str:
    """What is wrong with a file, for a message.

    The messages of libraries are not used, because they may quote bytes of a damaged value, and those may
    name the patient. The messages of codecs (RuntimeError) quote none.
    """
    match error:
        case UnicodeError():
            return "a text is not in its character set"
        case zlib.error():
            return "compressed data can't be unpacked"
        case EOFError() | IndexError() | struct.error():
            return "a value ends too early"
        case DamagedContent() | RuntimeError() if str(error):
            return str(error).splitlines()[0][:200]
        case _:
            return "a value has another type or length than stated"
