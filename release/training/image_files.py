"""Writes the images of training data as 8-bit files that every library decodes to the same pixels."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

from PIL import Image

from domain.file_errors import add_filename_to_errors
from imaging.guarded_decoder import GuardedDecoder
from release.training.box_formats import ImageSize

_EXIF_ORIENTATION = 0x0112
_EIGHT_BIT_MODES = {"L", "RGB"}
_FORMATS = {"PNG": ".png", "JPEG": ".jpg"}


def write_training_image(source: Path, out: Path, *, size: ImageSize, decoder: GuardedDecoder) -> str:
    """Write one image of a release to the folder ``images``.

    A PNG or JPEG file with 8 bits is copied. DICOM files and files with more bits are rendered in the default
    window of the viewer. Files whose EXIF data ask for a rotation are written without it, because boxes refer
    to the stored pixels.

    Args:
        source: the image file in the release.
        out: the folder of the training data.
        size: the size to write; the image is resized to it if it differs.
        decoder: the process that renders the files that are not copied.

    Returns:
        The path within ``out``, with forward slashes.

    Raises:
        UnreadableImage: the file cannot be decoded.
    """
    suffix = _find_copy_suffix(source, size)
    path = f"images/{source.stem}{suffix or '.png'}"
    target = out / path
    with add_filename_to_errors(target):
        if suffix is not None:
            shutil.copyfile(source, target)
            return path
        with Image.open(io.BytesIO(decoder.render_png(source, name=source.name).full)) as rendered:
            pixels = rendered.convert("L")
            if pixels.size != (size.columns, size.rows):
                pixels = pixels.resize((size.columns, size.rows), Image.Resampling.BICUBIC)
            pixels.save(target, "PNG")
    return path


def _find_copy_suffix(source: Path, size: ImageSize) -> str | None:
    """Return the suffix of a file that can be copied; None if it has to be rendered or resized."""
    try:
        with Image.open(source) as image:
            can_be_copied = (
                image.format in _FORMATS
                and image.mode in _EIGHT_BIT_MODES
                and image.size == (size.columns, size.rows)
                and image.getexif().get(_EXIF_ORIENTATION, 1) == 1
            )
            return _FORMATS[image.format or ""] if can_be_copied else None
    except OSError:  # not a format of Pillow, such as DICOM
        return None
