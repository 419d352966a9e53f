"""Parses a question file to batches. This part of an import needs no database and no images."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice

from intake.batch_filler import BatchFiller
from intake.parsed_batch import ParsedBatch
from intake.recognition import RecognisedFile

#: Records per batch and per ``executemany``. Larger batches do not fit into the processor's cache.
BATCH_SIZE = 2_000
# Records decoded at once; few enough to stay in the processor's cache until their rows are created.
_DECODE_SIZE = 100


def parse_batches(
    file: RecognisedFile, *, file_stem: str, minimum_explanation: int, with_images: bool
) -> Iterator[ParsedBatch]:
    """Parse a question file.

    Args:
        file: the file.
        file_stem: the user's name of the file, without its extension.
        minimum_explanation: the minimum length of an explanation in the format check, in characters.
        with_images: whether boxes will be compared with their images.

    Yields:
        Batches. An invalid record is added to ``refusals`` and does not stop the parsing.

    Raises:
        InvalidValue: the mapping does not fit the file.
    """
    opened = file.open(file_stem)
    create_filler = partial(
        BatchFiller, file.container, opened.reader, file.expectations, minimum_explanation, with_images
    )
    filler = create_filler()
    while records := list(islice(opened.records, _DECODE_SIZE)):
        filler.add_records(records)
        if filler.batch.records >= BATCH_SIZE:
            filler.batch.bytes_read = opened.count_bytes()
            yield filler.batch
            filler = create_filler()
    if filler.batch.records:
        filler.batch.bytes_read = opened.count_bytes()
        yield filler.batch
