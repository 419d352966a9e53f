"""Reads image files of all supported kinds: the facts in their headers, and their pixels.

Files are not trusted. Use :mod:`imaging.guarded_decoder` outside of tests: it reads them in a separate
process with limits on time and memory.
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

# pydicom and Pillow log unusual header values, which may be patient data.
for _library in ("pydicom", "PIL"):
    logging.getLogger(_library).setLevel(logging.CRITICAL)

_UNSUPPORTED = "is not a DICOM, PNG or JPEG file. Other kinds are not supported: convert it, or leave it out."


def describe(content: bytes, *, name: str, key: PseudonymKey | None = None) -> ImageFacts:
    """Read the facts of a radiograph from its headers without decoding its pixels.

    A file is refused if its headers and lengths show that it can't be displayed.

    Args:
        content: the whole file.
        name: the file name, used in error messages.
        key: the key for the patient's pseudonym. Without a key the facts have no patient, unless the header
            states that Patient ID (0010,0020) is already de-identified.

    Raises:
        UnreadableImage: the file is refused; the error contains the reason and the attribute that caused it.
    """
    with warnings.catch_warnings():
        _configure_warnings()
        if raster.is_raster(content):
            return raster.describe(content, name=name)
        if dicom.is_dicom(content):
            return dicom.describe(content, name=name, key=key)
    raise UnreadableImage(name, "is empty." if not content else _UNSUPPORTED)


def read_radiograph(content: bytes, *, name: str) -> DecodedRadiograph:
    """Decode the pixels of a file, and read the attributes that define how they are shown.

    Args:
        content: the whole file.
        name: the file name, used in error messages.

    Returns:
        The radiograph with its stored values; no transform has been applied to them.

    Raises:
        UnreadableImage: as in :func:`describe`, or the pixels can't be decoded.
    """
    with warnings.catch_warnings():
        _configure_warnings()
        if raster.is_raster(content):
            return raster.read(content, name=name)
        if dicom.is_dicom(content):
            return dicom.read(content, name=name)
    raise UnreadableImage(name, "is empty." if not content else _UNSUPPORTED)


def _configure_warnings() -> None:
    """Ignore the warnings of libraries, except those about decompression bombs, which become errors.

    The other warnings are harmless, or this package checks for the same problem itself.
    """
    warnings.simplefilter("ignore")
    warnings.simplefilter("error", Image.DecompressionBombWarning)
