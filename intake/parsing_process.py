"""Parses a question file in a separate process, while this process writes rows."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from intake.containers import Container
from intake.guarded_process import parts_of, send_all
from intake.parsed_batch import ParsedBatch
from intake.parsing import parsed_batches
from intake.recognition import FileFormat

#: For files of at least this many bytes, an import creates the database's indexes afterwards.
LARGE = 16 << 20


def batches_of(
    path: Path,
    *,
    container: Container,
    file_format: FileFormat,
    file_stem: str,
    minimum_explanation: int,
    with_images: bool,
) -> Generator[ParsedBatch, None, None]:
    """:func:`intake.parsing.parsed_batches` in a separate process; the arguments are the same.

    Raises:
        Refused: the process ended before the end of the file.
    """
    asked = {
        "container": container,
        "file_format": file_format,
        "file_stem": file_stem,
        "minimum_explanation": minimum_explanation,
        "with_images": with_images,
    }
    for values in parts_of("intake.parsing_process", path, asked):
        yield ParsedBatch(*values)


def _parts(asked: dict[str, Any]) -> Iterator[Any]:
    for batch in parsed_batches(
        Path(asked["path"]),
        container=Container(asked["container"]),
        file_format=FileFormat(asked["file_format"]),
        file_stem=asked["file_stem"],
        minimum_explanation=asked["minimum_explanation"],
        with_images=asked["with_images"],
    ):
        yield batch.plain()


if __name__ == "__main__":
    sys.exit(send_all(sys.argv[1:], _parts))
