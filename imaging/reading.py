"""One door for every kind of image file: what it says, and its pixels.

Files come from strangers: outside of tests, go through ``imaging.guarded``, which reads them in a
process of their own with limits on time and memory.
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

# pydicom and Pillow say on their log what they find odd in a header, values of the patient included.
for _library in ("pydicom", "PIL"):
    logging.getLogger(_library).setLevel(logging.CRITICAL)

_NOT_READ = "is no DICOM, PNG or JPEG file. Other kinds are not read: convert it, or leave it out."


def describe(content: bytes, *, name: str, key: PseudonymKey | None = None) -> ImageFacts:
    """What the file says of its radiograph, from its headers; the pixels are not decoded.

    Refuses what could not be shown later, as far as headers and lengths tell.

    Args:
        content: the whole file.
        name: of the file, for the error's text.
        key: makes the patient's pseudonym; without it there is none.

    Raises:
        UnreadableImage: with the reason, and the attribute that is at fault.
    """
    with warnings.catch_warnings():
        _set_warnings()
        if raster.is_raster(content):
            return raster.describe(content, name=name)
        if dicom.is_dicom(content):
            return dicom.describe(content, name=name, key=key)
    raise UnreadableImage(name, "is empty." if not content else _NOT_READ)


def read_radiograph(content: bytes, *, name: str) -> DecodedRadiograph:
    """The file's pixels, with how they are to be shown.

    Raises:
        UnreadableImage: as ``describe``, and where the pixels can't be decoded.
    """
    with warnings.catch_warnings():
        _set_warnings()
        if raster.is_raster(content):
            return raster.read(content, name=name)
        if dicom.is_dicom(content):
            return dicom.read(content, name=name)
    raise UnreadableImage(name, "is empty." if not content else _NOT_READ)


def _set_warnings() -> None:
    """What a library warns of is either refused here by name, or harmless; an image bomb is never."""
    warnings.simplefilter("ignore")
    warnings.simplefilter("error", Image.DecompressionBombWarning)
