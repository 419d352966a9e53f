"""Reads every kind of image file: the facts of its headers, and its pixels.

Files are not trusted: outside of tests, use :mod:`imaging.guarded_reader`, which reads them in a separate
process
with limits on time and memory.
"""

from __future__ import annotations

import logging
import warnings

from PIL import Image

from imaging import dicom, raster
from imaging.errors import UnreadableImage
from imaging.pseudonyms import PseudonymKey
from imaging.radiograph import DecodedRadiograph, ImageFacts, VoiTable, Window

__all__ = ["DecodedRadiograph", "ImageFacts", "VoiTable", "Window", "describe", "read_radiograph"]

# pydicom and Pillow log unusual header values, including those of the patient.
for _library in ("pydicom", "PIL"):
    logging.getLogger(_library).setLevel(logging.CRITICAL)

_UNSUPPORTED = "is no DICOM, PNG or JPEG file. Other kinds are not read: convert it, or leave it out."


def describe(content: bytes, *, name: str, key: PseudonymKey | None = None) -> ImageFacts:
    """Read the facts of a radiograph from its headers; the pixels are not decoded.

    A file that could not be shown is refused, as far as headers and lengths tell.

    Args:
        content: the whole file.
        name: of the file, for the error's text.
        key: makes the patient's pseudonym; without it there is none, unless the header states that the
            patient's number is de-identified already.

    Raises:
        UnreadableImage: names the reason and the attribute at fault.
    """
    with warnings.catch_warnings():
        _configure_warnings()
        if raster.is_raster(content):
            return raster.describe(content, name=name)
        if dicom.is_dicom(content):
            return dicom.describe(content, name=name, key=key)
    raise UnreadableImage(name, "is empty." if not content else _UNSUPPORTED)


def read_radiograph(content: bytes, *, name: str) -> DecodedRadiograph:
    """Decode the pixels of a file, with everything needed to show them.

    Args:
        content: the whole file.
        name: of the file, for the error's text.

    Returns:
        Stored values, shape (rows, columns), without transforms.

    Raises:
        UnreadableImage: as :func:`describe`, or the pixels can't be decoded.
    """
    with warnings.catch_warnings():
        _configure_warnings()
        if raster.is_raster(content):
            return raster.read(content, name=name)
        if dicom.is_dicom(content):
            return dicom.read(content, name=name)
    raise UnreadableImage(name, "is empty." if not content else _UNSUPPORTED)


def _configure_warnings() -> None:
    """Ignore libraries' warnings, which are refused here by name or harmless; refuse decompression bombs."""
    warnings.simplefilter("ignore")
    warnings.simplefilter("error", Image.DecompressionBombWarning)
