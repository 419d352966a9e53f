"""Parses a question file in a separate process, while this process writes rows."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from intake.containers import Container
from intake.guarded_process import parse_in_process, send_all
from intake.parsed_batch import ParsedBatch
from intake.parsing import parse_batches
from intake.recognition import FileFormat

#: For files of at least this many bytes, an import creates the database's indexes afterwards.
LARGE_FILE_BYTES = 16 << 20


def parse_batches_in_process(
    path: Path,
    *,
    container: Container,
    file_format: FileFormat,
    file_stem: str,
    minimum_explanation: int,
    with_images: bool,
) -> Generator[ParsedBatch, None, None]:
    """:func:`intake.parsing.parse_batches` in a separate process; the arguments are the same.

    Raises:
        Refused: the process ended before the end of the file.
    """
    options = {
        "container": container,
        "file_format": file_format,
        "file_stem": file_stem,
        "minimum_explanation": minimum_explanation,
        "with_images": with_images,
    }
    for values in parse_in_process("intake.parsing_process", path, options):
        yield ParsedBatch(*values)


def _parse(options: dict[str, Any]) -> Iterator[Any]:
    for batch in parse_batches(
        Path(options["path"]),
        container=Container(options["container"]),
        file_format=FileFormat(options["file_format"]),
        file_stem=options["file_stem"],
        minimum_explanation=options["minimum_explanation"],
        with_images=options["with_images"],
    ):
        yield batch.to_plain()


if __name__ == "__main__":
    sys.exit(send_all(sys.argv[1:], _parse))
