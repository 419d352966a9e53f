"""Parses a question file in a separate process, while this process writes rows."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from domain.errors import InvalidValue
from intake.containers import Container
from intake.guarded_process import parse_in_process, send_all
from intake.mapping.declaration import load_mapping
from intake.parsed_batch import ParsedBatch
from intake.parsing import parse_batches
from intake.recognition import RecognisedFile

#: For files of at least this many bytes, an import creates the database's indexes afterwards.
LARGE_FILE_BYTES = 16 << 20
#: A mapped file gets more processor time per byte: applying a mapping is slower, and a workbook is
#: compressed.
_MAPPED_SECONDS_FACTOR = 5


def parse_batches_in_process(
    file: RecognisedFile, *, file_stem: str, minimum_explanation: int, with_images: bool
) -> Generator[ParsedBatch, None, None]:
    """Run :func:`intake.parsing.parse_batches` in a separate process; the arguments are the same.

    Raises:
        InvalidValue: the mapping does not fit the file.
        Refused: the process failed, timed out or exceeded a limit.
    """
    mapping = file.mapping
    options = {
        "container": file.container,
        "format_name": file.format_name,
        "mapping": (mapping.text, mapping.file_name) if mapping else None,
        "file_stem": file_stem,
        "minimum_explanation": minimum_explanation,
        "with_images": with_images,
    }
    seconds_factor = _MAPPED_SECONDS_FACTOR if mapping else 1
    for values in parse_in_process(
        "intake.parsing_process", file.path, options, size=file.size * seconds_factor
    ):
        batch = ParsedBatch(*values)
        if batch.error is not None:
            raise InvalidValue(*batch.error)
        yield batch


def check_mapping_fits(file: RecognisedFile, file_stem: str) -> None:
    """Check that a file has the columns that its mapping names. Without a mapping nothing is checked.

    Raises:
        InvalidValue: the mapping does not fit; the field is the mapping file with the line, or the file.
    """
    if file.mapping is None:
        return
    batches = parse_batches_in_process(file, file_stem=file_stem, minimum_explanation=0, with_images=False)
    with closing(batches):  # ends the process, because the first records are enough
        next(batches, None)


def _parse(options: dict[str, Any]) -> Iterator[Any]:
    mapping = load_mapping(*options["mapping"]) if options["mapping"] else None
    file = RecognisedFile(
        path=Path(options["path"]),
        container=Container(options["container"]),
        format_name=options["format_name"],
        mapping=mapping,
    )
    try:
        for batch in parse_batches(
            file,
            file_stem=options["file_stem"],
            minimum_explanation=options["minimum_explanation"],
            with_images=options["with_images"],
        ):
            yield batch.to_plain()
    except InvalidValue as error:
        yield ParsedBatch(error=(error.field, error.reason)).to_plain()


if __name__ == "__main__":
    sys.exit(send_all(sys.argv[1:], _parse))
