"""Parses a question file to batches, as far as is possible without database and images."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from intake.containers import Container, QuestionFile
from intake.filling import Filling
from intake.parsed_batch import ParsedBatch
from intake.recognition import FileFormat, reader_for

#: Records per batch and ``executemany``; larger batches do not fit into the processor's cache and are slower.
BATCH = 2_000
# Records decoded at once; few enough to stay in the processor's cache until their rows are made.
_AT_ONCE = 100


def parsed_batches(
    path: Path,
    *,
    container: Container,
    file_format: FileFormat,
    file_stem: str,
    minimum_explanation: int,
    with_images: bool,
) -> Iterator[ParsedBatch]:
    """Parse a question file.

    Args:
        path: the file.
        container: its kind.
        file_format: of the records.
        file_stem: the user's name of the file, without its ending.
        minimum_explanation: of the format check, in characters.
        with_images: whether boxes will be compared with their images.

    Yields:
        Batches; an invalid record is in ``refusals`` and does not stop the parsing.
    """
    file = QuestionFile(path)
    reader = reader_for(file_format, file_stem)
    raws = file.records(container)
    filling = Filling(container, reader, minimum_explanation, with_images)
    while records := list(islice(raws, _AT_ONCE)):
        filling.fill(records)
        if filling.batch.records >= BATCH:
            filling.batch.bytes_read = file.bytes_read
            yield filling.batch
            filling = Filling(container, reader, minimum_explanation, with_images)
    if filling.batch.records:
        filling.batch.bytes_read = file.bytes_read
        yield filling.batch
