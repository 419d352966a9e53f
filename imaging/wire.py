"""Encodes facts and pixels as JSON and bytes, for the pipe between a reading process and its caller."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.vocabulary import Sex, View
from imaging.radiograph import DecodedRadiograph, ImageFacts, VoiTable, Window

_KINDS = {"uint8": "|u1", "uint16": "<u2", "int16": "<i2"}

OUT_OF_MEMORY = 3  # exit code of the reading process

Answer = tuple[dict[str, Any], list[bytes]]


def taken_apart(decoded: DecodedRadiograph) -> Answer:
    """Encode a radiograph.

    Args:
        decoded: the radiograph.

    Returns:
        A head of JSON values, and the bytes of the arrays, little endian: pixels, modality, each table.
    """
    kind = _KINDS[str(decoded.pixels.dtype)]
    parts = [
        decoded.pixels.astype(kind, copy=False).tobytes(),
        decoded.modality.astype("<f4", copy=False).tobytes(),
        *(table.brightness.astype("<f4", copy=False).tobytes() for table in decoded.tables),
    ]
    head = {
        "facts": asdict(decoded.facts),
        "kind": kind,
        "lowest": decoded.lowest,
        "inverted": decoded.inverted,
        "padding": decoded.padding,
        "aspect": decoded.aspect,
        "windows": [asdict(window) for window in decoded.windows],
        "tables": [table.name for table in decoded.tables],
        "sizes": [len(part) for part in parts],
    }
    return head, parts


def put_together(answer: Answer) -> DecodedRadiograph:
    """The inverse of :func:`taken_apart`.

    Args:
        answer: head and bytes; the arrays share their memory and are read-only.

    Raises:
        ValueError: the answer is not one of :func:`taken_apart`.
        KeyError: likewise.
        TypeError: likewise.
    """
    head, parts = answer
    facts = facts_from(head["facts"])
    if head["kind"] not in _KINDS.values():
        raise ValueError(f"no kind of pixel: {head['kind']}")
    pixels: NDArray[Any] = np.frombuffer(parts[0], head["kind"]).reshape(facts.rows, facts.columns)
    padding, aspect = head["padding"], head["aspect"]
    return DecodedRadiograph(
        facts=facts,
        pixels=pixels,
        modality=np.frombuffer(parts[1], "<f4"),
        lowest=int(head["lowest"]),
        inverted=bool(head["inverted"]),
        padding=None if padding is None else (int(padding[0]), int(padding[1])),
        aspect=(int(aspect[0]), int(aspect[1])),
        windows=tuple(Window(**window) for window in head["windows"]),
        tables=tuple(
            VoiTable(name=str(name), brightness=np.frombuffer(part, "<f4"))
            for name, part in zip(head["tables"], parts[2:], strict=True)
        ),
    )


def facts_from(fields: dict[str, Any]) -> ImageFacts:
    """Restore facts from JSON.

    Args:
        fields: of ``dataclasses.asdict``, after JSON.
    """
    sex = fields["sex"]
    return ImageFacts(
        **{
            **fields,
            "view": View(fields["view"]),
            "sex": None if sex is None else Sex(sex),
            "notes": tuple(fields["notes"]),
        }
    )
