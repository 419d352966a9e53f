"""Reads the records of a question file one by one; the required memory does not grow with the file.

A file is JSON Lines (one record per line), a JSON array of records, or a JSON object of records by key.
Arrays and objects are not decoded as a whole; the bytes of each member are located and yielded. Tables and
folders, which only a mapping can read, are in :mod:`intake.record_files`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from domain.errors import InvalidValue
from intake.strict_json import MAX_RECORD_BYTES

_CHUNK = 1 << 20
#: The deepest nesting of objects, including the record itself.
_MAX_DEPTH = 8

_STRING = rb'"(?:[^"\\]++|\\.)*+"'


def _object_pattern() -> bytes:
    inner = rb"\{(?:[^{}\"]++|" + _STRING + rb")*+\}"
    for _ in range(_MAX_DEPTH - 1):
        inner = rb"\{(?:[^{}\"]++|" + _STRING + rb"|" + inner + rb")*+\}"
    return inner


_SPACE = re.compile(rb"[ \t\r\n]*+")
_KEY = re.compile(rb"[ \t\r\n]*+(" + _STRING + rb")[ \t\r\n]*+:", re.DOTALL)
# Scalars match too: a scalar in place of a record is refused with the correct reason.
_VALUE = re.compile(_object_pattern() + rb"|" + _STRING + rb"|[^\s,\]}{\"\[]++(?=[\s,\]}])", re.DOTALL)
# An unclosed quote matches to the end of the text. Otherwise the search would start again at each later
# quote, which would take minutes for 400,000 quotes.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[{}]', re.DOTALL)

#: A record as (name, bytes or error). The name is the line or index from 1, or the key. The error states why
#: the bytes could not be determined.
RawRecord = tuple[int | str, bytes | InvalidValue]


class Container(StrEnum):
    """The structure of a question file. The value is the term for one record in messages."""

    LINES = "line"
    ARRAY = "record"
    OBJECT = "key"
    ROWS = "row"
    MEMBERS = "file"


def format_record_name(container: Container, name: int | str) -> str:
    """Return the name of a record in messages: "line 12", "record 3", or its key."""
    return f"{container} {name}" if isinstance(name, int) else name


class QuestionFile:
    """A question file whose records are read in order. ``bytes_read`` is the progress."""

    def __init__(self, path: Path) -> None:
        """Read the beginning of the file.

        Raises:
            InvalidValue: the file is empty, not text, or not UTF-8.
        """
        self.path = path
        self.bytes_read = 0
        if path.exists() and not path.is_file():
            raise InvalidValue(
                "file", ("is a folder or a pipe; choose a regular file, because it is read more than once")
            )
        with path.open("rb") as file:
            head = file.read(_CHUNK)
        refuse_encoding(head)
        self._start = 3 if head.startswith(b"\xef\xbb\xbf") else 0
        self.head = head[self._start :].lstrip()
        if not self.head:
            raise InvalidValue("file", "is empty")

    def detect_container(self) -> Container:
        """Return the structure of the file. JSON Lines begins with a complete object on one line.

        Raises:
            InvalidValue: the file begins neither with { nor with [.
        """
        if self.head[:1] == b"[":
            return Container.ARRAY
        if self.head[:1] != b"{":
            raise InvalidValue("file", "is not valid JSON: it does not begin with { or [")
        first_line, newline, _ = self.head.partition(b"\n")
        try:
            # Bytes that are not UTF-8 are reported when the record is read; here they count as text.
            first_object = json.loads(first_line.decode("utf-8", errors="replace"))
        except (ValueError, RecursionError):
            # If the first line is invalid but the next one begins an object, the file is JSON Lines.
            following = self.head[len(first_line) :].lstrip()
            return Container.LINES if newline and following[:1] == b"{" else Container.OBJECT
        # A record may contain one or two objects. In an object of records, nearly all values are objects.
        object_count = sum(isinstance(value, dict) for value in first_object.values())
        return Container.OBJECT if object_count * 2 >= len(first_object) > 0 else Container.LINES

    def read_records(self, container: Container) -> Iterator[RawRecord]:
        """Read the records.

        Args:
            container: the result of :meth:`detect_container`.

        Yields:
            (name, bytes) of each record, or (name, error) if its bytes can't be determined.
        """
        with self.path.open("rb") as file:
            file.seek(self._start)
            if container is Container.LINES:
                yield from self._read_lines(file)
            else:
                yield from self._read_members(file, container)

    def _read_lines(self, file: BinaryIO) -> Iterator[RawRecord]:
        number, remainder, is_skipping = 0, b"", False
        while chunk := file.read(_CHUNK):
            self.bytes_read += len(chunk)
            lines = (remainder + chunk).split(b"\n")
            remainder = lines.pop()
            if (
                not is_skipping
                and lines
                and max(map(len, lines)) <= MAX_RECORD_BYTES
                and not any(map(bytes.isspace, lines))
                and all(lines)
            ):
                # The usual case. One step per line would take noticeable time for 1.6 million lines.
                yield from enumerate(lines, start=number + 1)
                number += len(lines)
                lines = []
            for line in lines:
                number += 1
                if is_skipping:
                    is_skipping = False  # the end of a line that was refused already
                elif len(line) > MAX_RECORD_BYTES:
                    yield number, _too_long()
                elif line and not line.isspace():
                    yield number, line
            if len(remainder) > MAX_RECORD_BYTES:
                if not is_skipping:
                    yield number + 1, _too_long()
                is_skipping, remainder = True, b""
        if remainder and not is_skipping and not remainder.isspace():
            yield number + 1, remainder

    def _read_members(self, file: BinaryIO, container: Container) -> Iterator[RawRecord]:
        window = _Window(file, self)
        closing_bracket = b"]" if container is Container.ARRAY else b"}"
        window.skip_space()
        window.position += 1  # the opening bracket
        window.skip_space()
        if window.current_byte() == closing_bracket:
            yield from window.check_end()
            return
        record_number = 0
        while True:
            record_number += 1
            name: int | str = record_number
            if container is Container.OBJECT:
                key = window.match_pattern(_KEY)
                if key is None:
                    yield (
                        f"after record {record_number - 1}",
                        InvalidValue("record", "a key is missing; the file may be truncated"),
                    )
                    return
                try:
                    name = json.loads(key[1])
                except ValueError:
                    name = f"record {record_number}"
            window.skip_space()  # the window may have ended after the key
            value = window.match_pattern(_VALUE)
            if value is None:
                yield name, window.explain_failure()
                return
            yield name, value[0]
            window.skip_space()
            separator = window.current_byte()
            window.position += 1
            if separator == closing_bracket:
                yield from window.check_end()
                return
            if separator != b",":
                reason = "is not followed by a comma or the end of the list; the file may be truncated"
                yield name, InvalidValue("record", reason)
                return
            window.skip_space()


class _Window:
    """The part of a file that is in memory, and the position up to which it has been read."""

    def __init__(self, file: BinaryIO, owner: QuestionFile) -> None:
        self.file, self.owner = file, owner
        self.content, self.position, self.at_end = b"", 0, False

    def read_more(self) -> bool:
        chunk = self.file.read(_CHUNK)
        self.owner.bytes_read += len(chunk)
        self.content, self.position = self.content[self.position :] + chunk, 0
        self.at_end = not chunk
        return bool(chunk)

    def skip_space(self) -> None:
        while True:
            match = _SPACE.match(self.content, self.position)
            self.position = match.end() if match else self.position
            if self.position < len(self.content) or not self.read_more():
                return

    def current_byte(self) -> bytes:
        return self.content[self.position : self.position + 1]

    def match_pattern(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        while True:
            match = pattern.match(self.content, self.position)
            if match:
                self.position = match.end()
                return match
            if len(self.content) - self.position > MAX_RECORD_BYTES or not self.read_more():
                return None

    def explain_failure(self) -> InvalidValue:
        """Return the reason why no record can be read here: nested too deeply, too long, or truncated."""
        depth = 0
        if self.current_byte() == b"[":
            return InvalidValue("record", "must be an object, not a list")
        for token in _TOKEN.finditer(self.content, self.position):
            depth += {b"{": 1, b"}": -1}.get(token[0], 0)
            if depth > _MAX_DEPTH:
                return InvalidValue("record", f"is nested more than {_MAX_DEPTH} levels deep")
        if not self.at_end and len(self.content) - self.position > MAX_RECORD_BYTES:
            return _too_long()
        return InvalidValue(
            "record",
            ("the file ends in the middle of this record: it is truncated, or a quotation mark is missing"),
        )

    def check_end(self) -> Iterator[RawRecord]:
        self.position += self.current_byte() in (b"]", b"}")
        self.skip_space()
        if self.current_byte():
            yield "after the end", InvalidValue("file", "there is text after the closing bracket")


def refuse_encoding(head: bytes) -> None:
    """Check that a file is not in another encoding than UTF-8 and not compressed.

    Args:
        head: the first bytes of the file.

    Raises:
        InvalidValue: the file is UTF-16, UTF-32 or compressed.
    """
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in head[:4]:
        raise InvalidValue("encoding", "is UTF-16 or UTF-32, not UTF-8; save the file as UTF-8")
    if head.startswith((b"PK\x03\x04", b"\x1f\x8b")):
        raise InvalidValue("file", "is compressed; unpack it first")


def _too_long() -> InvalidValue:
    return InvalidValue("record", f"is longer than {MAX_RECORD_BYTES:,} bytes, or a bracket is not closed")
