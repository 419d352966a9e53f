"""Reads the answers that evaluation harnesses write: lmms-eval, VLMEvalKit and inspect_ai.

| harness | file | id of the question | reply |
|---|---|---|---|
| lmms-eval | ``*_samples_*.jsonl`` (``--log_samples``) | ``doc``, in a field of ``ID_FIELDS`` | ``resps`` |
| VLMEvalKit | ``*.xlsx``, ``*.tsv``, ``*.json`` | ``index`` | ``prediction`` |
| inspect_ai | ``*.eval`` | ``id`` of the sample, epoch 1 | ``output`` |
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO

from domain.errors import InvalidValue
from intake.containers import QuestionFile
from intake.strict_json import decode_strictly

#: Fields of a record of lmms-eval that may have the id of the question, in the order in which they are tried.
ID_FIELDS = ("question_id", "id", "qid", "index")
#: The largest sample of a log of inspect_ai, in bytes.
MAX_SAMPLE_BYTES = 64 << 20
#: The method number of Zstandard in zip files, which Python's library reads from 3.14 on.
_ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<26xHH")  # the lengths of name and extra field, at the end of the header
_HEAD_BYTES = 1 << 16


class Harness(StrEnum):
    """A program that wrote a file of answers."""

    LMMS_EVAL = "lmms-eval"
    VLMEVALKIT = "VLMEvalKit"
    INSPECT = "inspect_ai"


def recognise_harness(path: Path) -> Harness | None:
    """Return the harness that wrote a file, judged by the content; None if no harness wrote it."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if head.startswith(b"PK\x03\x04"):
        return _recognise_zip(path)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    first_line = text.partition(b"\n")[0]
    if text[:1] == b"[":
        start = text[:4096]
        return Harness.VLMEVALKIT if b'"index"' in start and b'"prediction"' in text else None
    if text[:1] == b"{":
        is_sample = b'"doc_id"' in first_line and b'resps"' in first_line
        return Harness.LMMS_EVAL if is_sample else None
    columns = {cell.strip(b'" \r') for cell in first_line.split(b"\t")}
    return Harness.VLMEVALKIT if {b"index", b"prediction"} <= columns else None


def read_harness_file(
    path: Path, harness: Harness
) -> Iterator[tuple[int, tuple[str, str] | InvalidValue, int]]:
    """Read the answers of a file.

    Args:
        path: the file.
        harness: the result of :func:`recognise_harness`.

    Yields:
        The number of the record from 1, (question id, reply) or the error, and the number of bytes read.
    """
    if harness is Harness.INSPECT:
        records, convert = _read_inspect(path), _convert_inspect
    elif harness is Harness.LMMS_EVAL:
        records, convert = _read_lines(path), _convert_lmms_eval
    else:
        records, convert = _read_table(path), _convert_vlmevalkit
    for number, raw, bytes_read in records:
        try:
            if isinstance(raw, InvalidValue):
                raise raw
            fields = decode_strictly(raw)
            if not isinstance(fields, dict):
                raise InvalidValue("record", "must be an object")
            answer = convert(fields)
        except InvalidValue as error:
            yield number, error, bytes_read
            continue
        if answer is not None:
            yield number, answer, bytes_read


_Records = Iterator[tuple[int, bytes | InvalidValue, int]]


def _recognise_zip(path: Path) -> Harness | None:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except zipfile.BadZipFile:
        return None
    if "xl/workbook.xml" in names:
        return Harness.VLMEVALKIT
    return Harness.INSPECT if any(name.startswith("samples/") for name in names) else None


def _read_lines(path: Path) -> _Records:
    file = QuestionFile(path)
    for number, (_, raw) in enumerate(file.read_records(file.detect_container()), start=1):
        yield number, raw, file.bytes_read


def _read_table(path: Path) -> _Records:
    from intake.mapping.declaration import Input  # noqa: PLC0415 - only tables need it
    from intake.record_files import open_record_file  # noqa: PLC0415 - as above

    try:
        file = open_record_file(path, Input(nan=True))
    except InvalidValue as error:
        yield 1, error, 0
        return
    if file.columns is not None and not {"index", "prediction"} <= set(file.columns):
        yield 1, InvalidValue("header", "must have the columns index and prediction, as of VLMEvalKit"), 0
        return
    for number, (_, raw) in enumerate(file.read_records(), start=1):
        yield number, raw, file.bytes_read


def _read_inspect(path: Path) -> _Records:
    """Yield the samples of a log, sorted by the names of the archive's members."""
    bytes_read = 0
    with zipfile.ZipFile(path) as archive, path.open("rb") as file:
        members = [info for info in archive.infolist() if info.filename.startswith("samples/")]
        for number, info in enumerate(sorted(members, key=lambda info: info.filename), start=1):
            bytes_read += info.compress_size
            try:
                if info.file_size > MAX_SAMPLE_BYTES:
                    raise InvalidValue("record", f"has more than {MAX_SAMPLE_BYTES >> 20} MB")
                if info.compress_type == _ZSTANDARD:
                    content = _read_zstandard(file, info)
                else:
                    content = archive.read(info)
            except (InvalidValue, OSError, zipfile.BadZipFile, NotImplementedError, zlib.error) as error:
                reason = error.reason if isinstance(error, InvalidValue) else f"cannot be read: {error}"
                yield number, InvalidValue("record", f"{info.filename} {reason}"), bytes_read
                continue
            yield number, content, bytes_read


def _read_zstandard(file: BinaryIO, info: zipfile.ZipInfo) -> bytes:
    """Read a member that is compressed with Zstandard.

    Raises:
        OSError: the member is damaged, or its size or checksum differs from its entry in the directory.
    """
    import pyarrow as pa  # noqa: PLC0415 - only these logs need it

    file.seek(info.header_offset)
    name_length, extra_length = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    file.seek(name_length + extra_length, 1)
    compressed = pa.BufferReader(file.read(info.compress_size))
    with pa.CompressedInputStream(compressed, "zstd") as stream:
        content: bytes = stream.read(info.file_size + 1)
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise OSError("its size or checksum differs")
    return content


def _convert_lmms_eval(fields: dict[str, Any]) -> tuple[str, str]:
    document = fields.get("doc")
    sources = (document if isinstance(document, dict) else {}, fields)
    question_id = next(
        (source[name] for source in sources for name in ID_FIELDS if isinstance(source.get(name), str | int)),
        None,
    )
    if question_id is None:
        raise InvalidValue(
            "doc",
            f"must have the id of the question in {', '.join(ID_FIELDS[:-1])} or {ID_FIELDS[-1]}; doc_id is "
            f"only "
            "the number of the row",
        )
    reply = _find_first_text(fields.get("resps"))
    if reply is None:
        reply = _find_first_text(fields.get("filtered_resps"))
    if reply is None:
        raise InvalidValue("resps", "must have the text of the reply")
    return str(question_id), reply


def _convert_vlmevalkit(fields: dict[str, Any]) -> tuple[str, str]:
    index, prediction = fields.get("index"), fields.get("prediction")
    if isinstance(index, float) and index.is_integer():
        index = int(index)  # a spreadsheet has no integers
    if not isinstance(index, str | int) or index == "":
        raise InvalidValue("index", "must be the id of the question")
    return str(index), "" if prediction is None else str(prediction)


def _convert_inspect(fields: dict[str, Any]) -> tuple[str, str] | None:
    """Return id and reply; None for a later epoch of a sample, or a sample that ended with an error."""
    if fields.get("epoch", 1) != 1 or fields.get("error"):
        return None
    sample_id = fields.get("id")
    if not isinstance(sample_id, str | int):
        raise InvalidValue("id", "must be the id of the question")
    output = fields.get("output")
    if not isinstance(output, dict):
        raise InvalidValue("output", "is missing")
    completion = output.get("completion")
    if isinstance(completion, str):
        return str(sample_id), completion
    choices = output.get("choices")
    message = choices[0].get("message") if isinstance(choices, list) and choices else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):  # parts: texts, thoughts and images
        content = "\n".join(
            str(part.get("text", ""))
            for part in content
            if isinstance(part, dict) and part.get("type") == "text"
        )
    return str(sample_id), content if isinstance(content, str) else ""


def _find_first_text(value: object) -> str | None:
    """Return the first text in nested lists; None if their first element is no text."""
    while isinstance(value, list):
        if not value:
            return None
        value = value[0]
    return value if isinstance(value, str) else None
