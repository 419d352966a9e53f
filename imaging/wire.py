"""Encodes facts and pixels as JSON and bytes for the pipe between a decoder process and its caller."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.vocabulary import Sex, View
from imaging.radiograph import DecodedRadiograph, ImageFacts, VoiTable, Window

_ARRAY_TYPES = {"uint8": "|u1", "uint16": "<u2", "int16": "<i2"}

OUT_OF_MEMORY = 3  # exit code of the decoder process

#: A header of JSON values, and the payloads whose lengths are the header's ``sizes``.
WorkerResponse = tuple[dict[str, Any], list[bytes]]


def encode_radiograph(decoded: DecodedRadiograph) -> WorkerResponse:
    """Encode a radiograph.

    Args:
        decoded: the radiograph.

    Returns:
        The header, and the little-endian bytes of the arrays: pixels, modality look-up table, VOI tables.
    """
    array_type = _ARRAY_TYPES[str(decoded.pixels.dtype)]
    payloads = [
        decoded.pixels.astype(array_type, copy=False).tobytes(),
        decoded.modality_lut.astype("<f4", copy=False).tobytes(),
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
        "sizes": [len(part) for part in payloads],
    }
    return header, payloads


def decode_radiograph(response: WorkerResponse) -> DecodedRadiograph:
    """Decode a radiograph; the inverse of :func:`encode_radiograph`.

    Args:
        response: the header and the payloads. The arrays of the result share their memory and are read-only.

    Raises:
        ValueError: the response was not made by :func:`encode_radiograph`.
        KeyError: the response was not made by :func:`encode_radiograph`.
        TypeError: the response was not made by :func:`encode_radiograph`.
    """
    header, payloads = response
    facts = facts_from_json(header["facts"])
    if header["kind"] not in _ARRAY_TYPES.values():
        raise ValueError(f"unknown pixel type: {header['kind']}")
    pixels: NDArray[Any] = np.frombuffer(payloads[0], header["kind"]).reshape(facts.rows, facts.columns)
    padding, aspect = header["padding"], header["aspect"]
    return DecodedRadiograph(
        facts=facts,
        pixels=pixels,
        modality_lut=np.frombuffer(payloads[1], "<f4"),
        lowest=int(header["lowest"]),
        inverted=bool(header["inverted"]),
        padding=None if padding is None else (int(padding[0]), int(padding[1])),
        aspect=(int(aspect[0]), int(aspect[1])),
        windows=tuple(Window(**window) for window in header["windows"]),
        tables=tuple(
            VoiTable(name=str(name), brightness=np.frombuffer(part, "<f4"))
            for name, part in zip(header["tables"], payloads[2:], strict=True)
        ),
    )


def facts_from_json(fields: dict[str, Any]) -> ImageFacts:
    """Restore facts from JSON.

    Args:
        fields: the result of ``dataclasses.asdict`` after encoding to JSON and decoding.
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
