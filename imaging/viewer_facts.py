"""Builds the JSON facts that the browser needs to display a radiograph's stored values correctly."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydicom import Dataset
from pydicom.uid import UID

from imaging.dicom_file import DAMAGED_HEADER_ERRORS, parse
from imaging.display import choose_first_window, compute_automatic_window
from imaging.lookup import apply_lookup_table
from imaging.matrix import SIGNED_OFFSET, encoded_bits
from imaging.radiograph import DICOM, DecodedRadiograph, VoiTable, Window
from imaging.spacing import read_spacing

# Part of the name of cached facts. Increase it when a change alters the facts of a file.
FACTS_VERSION = 2

# PS3.3 C.7.6.1.1.1: anterior, posterior, right, left, head, feet. A direction has up to three letters.
_DIRECTIONS = frozenset("APRLHF")


def build_viewer_facts(content: bytes, decoded: DecodedRadiograph, *, name: str) -> dict[str, Any]:
    """Build the facts for displaying the values that :mod:`imaging.matrix` encodes.

    Args:
        content: the file that ``decoded`` was read from. Its header is parsed again for attributes that only
            the viewer needs.
        decoded: the radiograph.
        name: the file name, used in error messages.

    Returns:
        JSON values. Stored values (``stored_min``, ``stored_max``, ``padding``, ``modality.table_first``) are
        signed if the file's values are; ``offset`` has been added to the encoded matrix. The transforms apply
        in this order: modality (PS3.3 C.11.1), window or table (C.11.2), ``inverted`` (C.7.6.3.1.2). Padding
        is always black (C.7.5.1.1.2). The index into a VOI table is the rounded value minus ``first``,
        clipped to the table. The entries of a VOI table are 0 to 2 ** ``bits`` - 1. ``aspect`` is vertical :
        horizontal, ``spacing`` the result of :func:`imaging.spacing.read_spacing`, ``orientation`` Patient
        Orientation (0020,0020) or None.

    Raises:
        UnreadableImage: the header is damaged.
    """
    header = parse(content, name=name) if decoded.facts.media_type == DICOM else Dataset()
    is_grey = decoded.facts.photometric.startswith("MONOCHROME")
    signed = decoded.pixels.dtype == np.int16
    lowest, highest = _stored_range(decoded)
    initial_window = choose_first_window(decoded)
    first_look = _first_look_kind(initial_window, decoded)
    automatic = (
        initial_window
        if isinstance(initial_window, Window) and first_look == "automatic"
        else compute_automatic_window(decoded)
    )
    return {
        "rows": decoded.facts.rows,
        "columns": decoded.facts.columns,
        "bits": encoded_bits(decoded),
        "signed": signed,
        "offset": SIGNED_OFFSET if signed else 0,
        "inverted": decoded.inverted,
        "stored_min": lowest,
        "stored_max": highest,
        "padding": None if decoded.padding is None else list(decoded.padding),
        "modality": _modality_transform(decoded, header if is_grey else Dataset()),
        "windows": [asdict(window) for window in decoded.windows],
        "voi_tables": _voi_tables_to_json(decoded, header) if decoded.tables else [],
        "automatic": {"center": automatic.center, "width": automatic.width, "function": automatic.function},
        "first_look": {"kind": first_look, "index": 0},
        "spacing": read_spacing(header),
        "aspect": list(decoded.aspect),
        "orientation": _read_orientation(header),
        "view": str(decoded.facts.view),
        "media": decoded.facts.media_type,
        "notes": list(decoded.facts.notes),
    }


def _stored_range(decoded: DecodedRadiograph) -> tuple[int, int]:
    """Return the lowest and highest stored value outside the padding; of all pixels if all are padding."""
    pixels = decoded.pixels
    if decoded.padding is not None:
        low, high = decoded.padding
        image = pixels[(pixels < low) | (pixels > high)]
        pixels = image if image.size else pixels
    return int(pixels.min()), int(pixels.max())


def _modality_transform(decoded: DecodedRadiograph, header: Dataset) -> dict[str, Any]:
    """Convert the modality transform (PS3.3 C.11.1) to JSON: the table, else the rescale, else identity."""
    if header.get("ModalityLUTSequence"):
        first, entries = _trim_constant_ends(decoded.modality_lut, decoded.lowest)
        table = [int(entry) for entry in entries]
        return {"kind": "table", "slope": 1.0, "intercept": 0.0, "table_first": first, "table": table}
    rescale = [header.get("RescaleSlope"), header.get("RescaleIntercept")]
    slope, intercept = (1.0, 0.0) if None in rescale or "" in rescale else (float(part) for part in rescale)
    kind = "identity" if (slope, intercept) == (1.0, 0.0) else "linear"
    return {"kind": kind, "slope": slope, "intercept": intercept, "table_first": 0, "table": []}


def _trim_constant_ends(modality_lut: NDArray[np.float32], lowest: int) -> tuple[int, NDArray[np.float32]]:
    """Remove the constant ends of a table (C.11.1.1.1); return the first stored value and the entries."""
    changes = np.flatnonzero(np.diff(modality_lut))
    if not changes.size:
        return lowest, modality_lut[:1]
    first, last = int(changes[0]), int(changes[-1]) + 1
    return lowest + first, modality_lut[first : last + 1]


def _voi_tables_to_json(decoded: DecodedRadiograph, header: Dataset) -> list[dict[str, Any]]:
    """Convert the tables of the VOI LUT Sequence (PS3.3 C.11.2.1.1) to JSON, with the entries of the file."""
    little_endian = bool(UID(str(header.file_meta.TransferSyntaxUID)).is_little_endian)
    tables = []
    for table, item in zip(decoded.tables, header.VOILUTSequence, strict=True):
        length, first = int(item.LUTDescriptor[0]) or 1 << 16, int(item.LUTDescriptor[1])
        if first >= SIGNED_OFFSET and decoded.modality_lut.min() < 0:
            first -= 1 << 16  # the file states a signed value as unsigned
        indices = np.arange(first, first + length, dtype=np.int32)
        entries, bits = apply_lookup_table(indices, item, little_endian=little_endian)
        values = [int(entry) for entry in entries]
        tables.append({"name": table.name, "first": first, "bits": bits, "values": values})
    return tables


def _first_look_kind(window: Window | VoiTable, decoded: DecodedRadiograph) -> str:
    if isinstance(window, VoiTable):
        return "table"
    return "window" if window in decoded.windows else "automatic"


def _read_orientation(header: Dataset) -> list[str] | None:
    """Read the directions of rows and columns, such as L and F (PS3.3 C.7.6.1.1.1); None if unknown."""
    try:
        directions = [str(part).strip().upper() for part in header.get("PatientOrientation") or []]
    except DAMAGED_HEADER_ERRORS:
        return None
    if len(directions) != 2 or not all(part and set(part) <= _DIRECTIONS for part in directions):
        return None
    return directions
