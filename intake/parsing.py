"""Parses a question file to batches, as far as is possible without database and images."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from intake.batch_filler import BatchFiller
from intake.containers import Container, QuestionFile
from intake.parsed_batch import ParsedBatch
from intake.recognition import FileFormat, create_reader, get_expectations

#: Records per batch and ``executemany``; larger batches do not fit into the processor's cache and are slower.
BATCH_SIZE = 2_000
# Records decoded at once; few enough to stay in the processor's cache until their rows are made.
_DECODE_SIZE = 100


def parse_batches(
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
    reader = create_reader(file_format, file_stem)
    raw_records = file.read_records(container)
    create_filler = partial(
        BatchFiller, container, reader, get_expectations(file_format), minimum_explanation, with_images
    )
    filler = create_filler()
    while records := list(islice(raw_records, _DECODE_SIZE)):
        filler.add_records(records)
        if filler.batch.records >= BATCH_SIZE:
            filler.batch.bytes_read = file.bytes_read
            yield filler.batch
            filler = create_filler()
    if filler.batch.records:
        filler.batch.bytes_read = file.bytes_read
        yield filler.batch
