"""Encodes facts and pixels as JSON and bytes, for the pipe between a reading process and its caller."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.vocabulary import Sex, View
from imaging.radiograph import DecodedRadiograph, ImageFacts, VoiTable, Window

_ARRAY_TYPES = {"uint8": "|u1", "uint16": "<u2", "int16": "<i2"}

OUT_OF_MEMORY = 3  # exit code of the reading process

WorkerResponse = tuple[dict[str, Any], list[bytes]]


def encode_radiograph(decoded: DecodedRadiograph) -> WorkerResponse:
    """Encode a radiograph.

    Args:
        decoded: the radiograph.

    Returns:
        A head of JSON values, and the bytes of the arrays, little endian: pixels, modality, each table.
    """
    array_type = _ARRAY_TYPES[str(decoded.pixels.dtype)]
    parts = [
        decoded.pixels.astype(array_type, copy=False).tobytes(),
        decoded.modality.astype("<f4", copy=False).tobytes(),
        *(table.brightness.astype("<f4", copy=False).tobytes() for table in decoded.tables),
    ]
    header = {
        "facts": asdict(decoded.facts),
        "kind": array_type,
        "lowest": decoded.lowest,
        "inverted": decoded.inverted,
        "padding": decoded.padding,
        "aspect": decoded.aspect,
        "windows": [asdict(window) for window in decoded.windows],
        "tables": [table.name for table in decoded.tables],
        "sizes": [len(part) for part in parts],
    }
    return header, parts


def decode_radiograph(response: WorkerResponse) -> DecodedRadiograph:
    """The inverse of :func:`encode_radiograph`.

    Args:
        response: head and bytes; the arrays share their memory and are read-only.

    Raises:
        ValueError: the answer is not one of :func:`encode_radiograph`.
        KeyError: likewise.
        TypeError: likewise.
    """
    header, parts = response
    facts = facts_from_json(header["facts"])
    if header["kind"] not in _ARRAY_TYPES.values():
        raise ValueError(f"no kind of pixel: {header['kind']}")
    pixels: NDArray[Any] = np.frombuffer(parts[0], header["kind"]).reshape(facts.rows, facts.columns)
    padding, aspect = header["padding"], header["aspect"]
    return DecodedRadiograph(
        facts=facts,
        pixels=pixels,
        modality=np.frombuffer(parts[1], "<f4"),
        lowest=int(header["lowest"]),
        inverted=bool(header["inverted"]),
        padding=None if padding is None else (int(padding[0]), int(padding[1])),
        aspect=(int(aspect[0]), int(aspect[1])),
        windows=tuple(Window(**window) for window in header["windows"]),
        tables=tuple(
            VoiTable(name=str(name), brightness=np.frombuffer(part, "<f4"))
            for name, part in zip(header["tables"], parts[2:], strict=True)
        ),
    )


def facts_from_json(fields: dict[str, Any]) -> ImageFacts:
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
