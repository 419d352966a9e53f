"""Reads the pixel spacing in millimetres, if the header states for which plane it is valid.

A projection magnifies: an object nearer to the tube appears larger. A length is therefore valid either in the
plane of the detector or at a calibrated depth in the patient, and the radiologist must know which.
"""

from __future__ import annotations

import math
from typing import Any

from pydicom import Dataset

from imaging.dicom_file import DAMAGED_HEADER_ERRORS

DETECTOR_PLANE = "detector plane"
CALIBRATED = "calibrated"

# PS3.3 10.7.1.1: the meaning of each Pixel Spacing Calibration Type.
_CALIBRATIONS = {
    "GEOMETRY": "Corrected for magnification at an assumed depth; valid at that depth near the central ray.",
    "FIDUCIAL": "Measured against an object of known size; valid at its depth near the central ray.",
}
_AT_DETECTOR = "Measured at the detector. In the patient, lengths are smaller by an unknown magnification."
_UNKNOWN_CALIBRATION = "The file does not state how Pixel Spacing was calibrated, so there is no ruler."
_NO_SPACING = "The file states no pixel spacing, so there is no ruler."


def read_spacing(header: Dataset) -> dict[str, Any]:
    """Read the pixel spacing of a radiograph.

    Pixel Spacing (0028,0030) is used if Pixel Spacing Calibration Type (0028,0A02) is GEOMETRY or FIDUCIAL
    (PS3.3 10.7.1.1). Without that type it is unknown whether Pixel Spacing is corrected for magnification.
    Imager Pixel Spacing (0018,1164) is used instead; it is always measured at the front of the detector
    (C.8.11.4).

    Args:
        header: a dataset that :func:`imaging.dicom_file.parse` returned; empty for a PNG or JPEG.

    Returns:
        ``row_mm`` and ``column_mm``, the distances between the centres of adjacent rows and of adjacent
        columns in millimetres, in the standard's order (10.7.1.3); ``kind``, "calibrated" or "detector
        plane"; ``note``, a sentence for the radiologist. The first three are None if neither spacing can be
        used.
    """
    calibrated, detector = (
        _read_spacing_pair(header, "PixelSpacing"),
        _read_spacing_pair(header, "ImagerPixelSpacing"),
    )
    calibration = str(header.get("PixelSpacingCalibrationType") or "").strip().upper()
    if calibrated and calibration in _CALIBRATIONS:
        return _spacing_to_json(calibrated, CALIBRATED, _CALIBRATIONS[calibration])
    if detector:
        return _spacing_to_json(detector, DETECTOR_PLANE, _detector_note(header))
    note = _UNKNOWN_CALIBRATION if calibrated else _NO_SPACING
    return {"row_mm": None, "column_mm": None, "kind": None, "note": note}


def _detector_note(header: Dataset) -> str:
    """Compose the note; it contains Estimated Radiographic Magnification Factor (0018,1114) if stated."""
    try:
        factor = float(header.get("EstimatedRadiographicMagnificationFactor") or 0)
    except DAMAGED_HEADER_ERRORS:
        factor = 0.0
    if not (math.isfinite(factor) and factor > 1):
        return _AT_DETECTOR
    return f"Measured at the detector. The file estimates a magnification of {factor:g} in the patient."


def _spacing_to_json(pair: tuple[float, float], kind: str, note: str) -> dict[str, Any]:
    return {"row_mm": pair[0], "column_mm": pair[1], "kind": kind, "note": note}


def _read_spacing_pair(header: Dataset, keyword: str) -> tuple[float, float] | None:
    try:
        numbers = [float(part) for part in header.get(keyword) or []]
    except DAMAGED_HEADER_ERRORS:  # a single or unreadable number is not a spacing
        return None
    if len(numbers) != 2 or not all(math.isfinite(number) and number > 0 for number in numbers):
        return None
    return numbers[0], numbers[1]
