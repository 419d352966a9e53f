"""Ordinary records, many at once: their rows made column by column.

At 1.6 million records a function call for each would show. Where each of a few dozen records is a choice
question in which nothing can be wrong, the same look and the same step serve all of them. Any other is left
to `filling`, which takes them one by one. What is said here never differs from what is said there; a test
holds one against the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET
from xxhash import xxh3_128_digest

from intake.records import QuestionRecord
from intake.rules import LONGEST_ID
from quality.quick import surely_all_fine

_encoder = msgspec.json.Encoder(order="sorted")
_FIELDS = QuestionRecord.__struct_fields__
_PLACES = {name: place for place, name in enumerate(_FIELDS)}
_STAYS_AWAY = ("box_grid", "box_fit", "also_right")


def ordinary_rows(
    records: Sequence[QuestionRecord], raws: Sequence[bytes], *, colons: int, minimum_explanation: int
) -> list[tuple[Any, ...]] | None:
    """The rows (of ``parsing.COLUMNS``) of records that need no closer look; None where one of them might.

    Exams and the boxes' corners are the caller's matter.

    Args:
        records: at least one, decoded from plain ASCII without escapes.
        raws: their bytes.
        colons: in those bytes, less those of their exams. As many stand in the records unless a key was given
            twice.
        minimum_explanation: of the format check, in characters.
    """
    count = len(records)
    columns = dict(zip(_FIELDS, zip(*map(msgspec.structs.astuple, records), strict=True), strict=True))
    if set(columns["format"]) != {"single"} or any(any(columns[name]) for name in _STAYS_AWAY):
        return None
    if not (all(columns["task"]) and all(columns["difficulty"]) and all(columns["category"])):
        return None
    keys, options, boxes = columns["id"], columns["options"], columns["boxes"]
    if not (all(options) and _plain_keys(keys)) or any(map(_odd_answer, columns["answer"])):
        return None
    labels = [box.label for listed in boxes if listed for box in listed]
    stems, explanations = columns["stem"], columns["explanation"]
    if not surely_all_fine(stems, options, explanations, labels, minimum_explanation):
        return None
    sources = [source for source in columns["source"] if source]
    if len(sources) not in (0, count):
        return None
    told = [
        [getattr(source, name) for source in sources] for name in ("generator", "version", "prompt_version")
    ]
    texts = [columns[name] for name in ("content_type", "category", "subcategory", "report")]
    written_options, written_boxes = _lines(options), _lines([listed or () for listed in boxes])
    expected = (
        sum(count - _missing(column) for column in columns.values())
        + sum(len(column) - _missing(column) for column in told)
        + sum(column.count(":") for column in (written_options, written_boxes))
        + sum(
            "".join(filter(None, column)).count(":") for column in (keys, stems, explanations, *texts, *told)
        )
    )
    if expected != colons:
        return None
    nothing = [None] * count
    content_types, subcategories = _known(columns["content_type"]), _known(columns["subcategory"])
    return list(
        zip(
            keys,
            columns["format"],
            stems,
            written_options.split("\n")[:-1],
            _lines(columns["answer"]).split("\n")[:-1],
            ["[]"] * count,
            explanations,
            written_boxes.split("\n")[:-1],
            columns["task"],
            content_types,
            columns["category"],
            subcategories,
            columns["difficulty"],
            *(map(_known, told) if sources else (nothing, nothing, nothing)),
            record_hashes(raws),
            strict=True,
        )
    )


def record_hashes(raws: Sequence[bytes]) -> list[bytes]:
    """The 128-bit XXH3 of each record's bytes, by which an import knows one that is there.

    It is no cryptographic hash, and none is needed: it is only held against the record of the same id, so
    who forged it would have nothing but his own record left out. It takes a fifteenth of SHA-256's time.
    """
    return list(map(xxh3_128_digest, raws))


def _plain_keys(keys: Sequence[str]) -> bool:
    joined = "\n".join(keys)
    return (
        all(keys)
        and max(map(len, keys)) <= LONGEST_ID
        and not (joined[0].isspace() or joined[-1].isspace() or " \n" in joined or "\n " in joined)
    )


def _odd_answer(answer: list[int] | str) -> bool:
    """Not one place among four; how many options there are is looked at elsewhere."""
    return answer not in _ANSWERS


_ANSWERS = ([0], [1], [2], [3])


def _lines(values: Sequence[Any]) -> str:
    """Each as JSON, and a line end."""
    return _encoder.encode_lines(values).decode()


def _missing(column: Sequence[Any]) -> int:
    """How many records lack the field."""
    return 0 if all(column) else column.count(UNSET)


def _known(column: Sequence[Any]) -> Sequence[Any]:
    return column if all(column) else [value or None for value in column]
