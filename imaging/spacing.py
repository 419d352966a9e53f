"""Millimetres a pixel, where a radiograph's header says of which plane they are.

A projection magnifies: what lies nearer to the tube comes out larger. So a length is one of the detector's
plane, or one that was calibrated for a depth in the patient, and a reader must be told which.
"""

from __future__ import annotations

import math
from typing import Any

from pydicom import Dataset

from imaging.dicom_file import DAMAGE

DETECTOR_PLANE = "detector plane"
CALIBRATED = "calibrated"

# PS3.3 10.7.1.1: what each Pixel Spacing Calibration Type says.
_CALIBRATIONS = {
    "GEOMETRY": "Corrected for magnification at an assumed depth; right there, near the central ray.",
    "FIDUCIAL": "Measured against an object of known size; right at its depth, near the central ray.",
}
_UNMAGNIFIED = "Measured at the detector. In the patient, lengths are smaller by an unknown magnification."
_UNSAID = "Pixel Spacing does not say how it was calibrated, so there is no ruler."
_NONE = "The file states no pixel spacing, so there is no ruler."


def spacing_of(header: Dataset) -> dict[str, Any]:
    """``row_mm`` from row to row, ``column_mm`` from column to column, ``kind``, a ``note`` for the reader.

    Pixel Spacing counts where its Calibration Type is GEOMETRY or FIDUCIAL (PS3.3 10.7.1.1). Without a type
    it may or may not be corrected, so Imager Pixel Spacing, which is always that of the detector's front
    (C.8.11.4), is taken instead. With neither, ``kind`` and both numbers are None. The numbers are in the
    standard's order, between rows first (10.7.1.3).
    """
    calibrated, detector = _pair(header, "PixelSpacing"), _pair(header, "ImagerPixelSpacing")
    calibration = str(header.get("PixelSpacingCalibrationType") or "").strip().upper()
    if calibrated and calibration in _CALIBRATIONS:
        return _stated(calibrated, CALIBRATED, _CALIBRATIONS[calibration])
    if detector:
        return _stated(detector, DETECTOR_PLANE, _detector_note(header))
    note = _UNSAID if calibrated else _NONE
    return {"row_mm": None, "column_mm": None, "kind": None, "note": note}


def _detector_note(header: Dataset) -> str:
    """With the magnification where the file estimates it: source to detector over source to patient."""
    try:
        factor = float(header.get("EstimatedRadiographicMagnificationFactor") or 0)
    except DAMAGE:
        factor = 0.0
    if not (math.isfinite(factor) and factor > 1):
        return _UNMAGNIFIED
    return f"Measured at the detector. The file estimates a magnification of {factor:g} in the patient."


def _stated(pair: tuple[float, float], kind: str, note: str) -> dict[str, Any]:
    return {"row_mm": pair[0], "column_mm": pair[1], "kind": kind, "note": note}


def _pair(header: Dataset, keyword: str) -> tuple[float, float] | None:
    try:
        numbers = [float(part) for part in header.get(keyword) or []]
    except DAMAGE:  # a single number, or none that can be read, is no spacing
        return None
    if len(numbers) != 2 or not all(math.isfinite(number) and number > 0 for number in numbers):
        return None
    return numbers[0], numbers[1]
