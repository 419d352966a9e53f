"""Reads PNG and JPEG files: grey, colour or palette, up to 16 bits."""

from __future__ import annotations

import io
import struct
import zlib
from dataclasses import dataclass, replace

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from imaging.codestream import has_jpeg_end, read_frame_header
from imaging.errors import UnreadableImage, describe_damage
from imaging.radiograph import AS_STORED, JPEG, MAX_PIXELS, PNG, DecodedRadiograph, ImageFacts

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_JPEG_SIGNATURE = b"\xff\xd8\xff"

# Colour type -> photometric interpretation and allowed bit depths (PNG, third edition, 11.2.1).
_COLOUR_TYPES = {
    0: ("MONOCHROME2", {1, 2, 4, 8, 16}),
    2: ("RGB", {8, 16}),
    3: ("PALETTE COLOR", {1, 2, 4, 8}),
    4: ("MONOCHROME2", {8, 16}),
    6: ("RGB", {8, 16}),
}
_COLOUR_TYPES_WITH_ALPHA = {4, 6}
_ORIENTATION_TAG = 0x0112  # EXIF tag; with the values 5 to 8, rows and columns are swapped
_COLOUR_NOTE = "Stored in colour; its luminance is shown."
_ALPHA_NOTE = "Has transparency; transparent pixels are shown black."
_ORIENTATION_NOTE = "Has an EXIF orientation; the image is shown rotated accordingly."
_TRUNCATED_MESSAGE = "is truncated: the file is incomplete. Copy it again."


def is_raster(content: bytes) -> bool:
    """Whether a file is a PNG or JPEG, by its first bytes.

    Args:
        content: the first 8 bytes of the file, or more.
    """
    return content.startswith((_PNG_SIGNATURE, _JPEG_SIGNATURE))


def describe(content: bytes, *, name: str) -> ImageFacts:
    """Describe a PNG or JPEG. Also verify the checksums of a PNG and the end marker of a JPEG.

    Args:
        content: the whole file.
        name: the file name, used in error messages.

    Raises:
        UnreadableImage: the file is truncated, damaged, too large, or of an unsupported kind.
    """
    return _describe(content, name=name)[0]


def read(content: bytes, *, name: str) -> DecodedRadiograph:
    """Decode a PNG or JPEG.

    Colour is converted to luminance (ITU-R BT.601). Pixels that are transparent by an alpha channel become
    black; a tRNS chunk is ignored. A JPEG is rotated according to its EXIF orientation.

    Args:
        content: the whole file.
        name: the file name, used in error messages.

    Returns:
        Pixels of shape (rows, columns), uint16 for a PNG with 16 bits and uint8 otherwise; 0 is black. Values
        with fewer than 8 bits are scaled to the range 0 to 255.

    Raises:
        UnreadableImage: as in :func:`describe`, or the pixels can't be decoded.
    """
    facts, png_header = _describe(content, name=name)
    try:
        if png_header is None:
            with Image.open(io.BytesIO(content), formats=("JPEG",)) as image:
                image.draft("L", image.size)  # the decoder returns luminance only
                pixels = np.asarray(ImageOps.exif_transpose(image).convert("L"))
        else:
            pixels = _decode_png(content, header=png_header)
    # Pillow and the codecs raise many kinds of errors on damaged data
    except (OSError, ValueError, SyntaxError, RuntimeError, IndexError, struct.error, zlib.error) as error:
        raise UnreadableImage(name, f"the pixels can't be decoded ({describe_damage(error)}).") from error
    if pixels.shape != (facts.rows, facts.columns):
        rows, columns = pixels.shape
        raise UnreadableImage(
            name,
            f"decodes to {columns} x {rows} pixels, but its header states {facts.columns} x {facts.rows}.",
        )
    return DecodedRadiograph(
        facts=facts,
        pixels=pixels,
        modality_lut=np.arange(256 if pixels.dtype == np.uint8 else 65536, dtype=np.float32),
        windows=(AS_STORED,) if pixels.dtype == np.uint8 else (),
    )


def _describe(content: bytes, *, name: str) -> tuple[ImageFacts, _PngHeader | None]:
    """Return the facts and the PNG header; the header is None for a JPEG."""
    if content.startswith(_PNG_SIGNATURE):
        header = _read_png_header(content, name=name)
        return _describe_png(header), header
    return _describe_jpeg(content, name=name), None


# ------------------------------------------------------------------------------------------------ PNG
@dataclass(frozen=True, slots=True, kw_only=True)
class _PngHeader:
    columns: int
    rows: int
    depth: int
    colour_type: int


def _read_png_header(content: bytes, *, name: str) -> _PngHeader:
    """Read the IHDR chunk.

    Checks that each chunk up to IEND is complete and has the right checksum, and that the file has pixels
    and is no animation. Bytes after IEND are ignored.
    """
    header: _PngHeader | None = None
    has_pixels = False
    position = len(_PNG_SIGNATURE)
    view = memoryview(content)
    while position + 12 <= len(content):
        length, kind = struct.unpack_from(">I4s", content, position)
        if position + 12 + length > len(content):
            break
        (stored_crc,) = struct.unpack_from(">I", content, position + 8 + length)
        if zlib.crc32(view[position + 4 : position + 8 + length]) != stored_crc:
            raise UnreadableImage(
                name, "the checksum is wrong; the file is damaged.", attribute=_chunk_name(kind)
            )
        if header is None:
            if kind != b"IHDR" or length != 13:
                raise UnreadableImage(name, "is not the first chunk.", attribute="PNG IHDR")
            header = _parse_ihdr(content[position + 8 : position + 8 + length], name=name)
        if kind == b"acTL":
            raise UnreadableImage(
                name, "is an animation; only single images are supported.", attribute=_chunk_name(kind)
            )
        has_pixels = has_pixels or kind == b"IDAT"
        position += 12 + length
        if kind == b"IEND":
            if not has_pixels:
                raise UnreadableImage(name, "is missing: the file has no pixels.", attribute="PNG IDAT")
            return header
    raise UnreadableImage(name, _TRUNCATED_MESSAGE)


def _parse_ihdr(body: bytes, *, name: str) -> _PngHeader:
    columns, rows, depth, colour_type = struct.unpack_from(">IIBB", body)
    if colour_type not in _COLOUR_TYPES or depth not in _COLOUR_TYPES[colour_type][1]:
        raise UnreadableImage(
            name, f"colour type {colour_type} with {depth} bits is not valid.", attribute="PNG IHDR"
        )
    _check_size(rows, columns, name=name, attribute="PNG IHDR")
    return _PngHeader(columns=columns, rows=rows, depth=depth, colour_type=colour_type)


def _describe_png(header: _PngHeader) -> ImageFacts:
    photometric = _COLOUR_TYPES[header.colour_type][0]
    notes = []
    if photometric != "MONOCHROME2":
        notes.append(_COLOUR_NOTE)
    if header.colour_type in _COLOUR_TYPES_WITH_ALPHA:
        notes.append(_ALPHA_NOTE)
    return ImageFacts(
        media_type=PNG,
        rows=header.rows,
        columns=header.columns,
        bits=header.depth,
        photometric=photometric,
        notes=tuple(notes),
    )


def _decode_png(content: bytes, *, header: _PngHeader) -> NDArray[np.uint8] | NDArray[np.uint16]:
    if header.depth == 16 and header.colour_type != 0:
        return _to_grey(imagecodecs.png_decode(content))  # Pillow would reduce the 16 bits to 8
    with Image.open(io.BytesIO(content), formats=("PNG",)) as image:
        if image.mode in {"L", "I;16"}:
            return np.array(image)
        if image.mode in {"LA", "RGBA"}:
            return _to_grey(np.asarray(image))
        return np.asarray(image.convert("L"))


def _to_grey(channels: NDArray[np.uint8] | NDArray[np.uint16]) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Convert (rows, columns, channels) to luminance (ITU-R BT.601); transparent pixels become black."""
    max_value = np.iinfo(channels.dtype).max
    values = channels.astype(np.float32)
    grey = (
        values[..., 0]
        if channels.shape[-1] < 3
        else values[..., :3] @ np.array([0.299, 0.587, 0.114], np.float32)
    )
    if channels.shape[-1] in {2, 4}:
        grey *= values[..., -1] / max_value
    levels = np.clip(np.rint(grey), 0, max_value)
    return levels.astype(np.uint8) if channels.dtype == np.uint8 else levels.astype(np.uint16)


def _chunk_name(kind: bytes) -> str:
    return "PNG " + kind.decode("ascii", "replace")


# ----------------------------------------------------------------------------------------------- JPEG
def _describe_jpeg(content: bytes, *, name: str) -> ImageFacts:
    header = read_frame_header(content)
    if header is None:
        raise UnreadableImage(name, _TRUNCATED_MESSAGE)
    _check_size(header.rows, header.columns, name=name, attribute="JPEG frame header")
    if header.precision != 8:
        raise UnreadableImage(
            name,
            f"has {header.precision} bits per sample; a JPEG file outside DICOM must have 8.",
            attribute="JPEG frame header",
        )
    if header.samples not in {1, 3}:
        raise UnreadableImage(
            name,
            f"has {header.samples} colour channels; 1 or 3 are supported.",
            attribute="JPEG frame header",
        )
    if not has_jpeg_end(content):
        raise UnreadableImage(name, _TRUNCATED_MESSAGE)
    facts = ImageFacts(
        media_type=JPEG,
        rows=header.rows,
        columns=header.columns,
        bits=8,
        photometric="MONOCHROME2" if header.samples == 1 else "RGB",
        notes=() if header.samples == 1 else (_COLOUR_NOTE,),
    )
    return _apply_orientation(facts, orientation=read_orientation(content, name=name))


def read_orientation(content: bytes, *, name: str) -> int:
    """Read the EXIF orientation of a JPEG.

    Args:
        content: the whole file.
        name: the file name, used in error messages.

    Returns:
        1 to 8; 1 if the file states no valid orientation or is a PNG.

    Raises:
        UnreadableImage: the headers can't be read.
    """
    if not content.startswith(_JPEG_SIGNATURE):
        return 1
    try:
        with Image.open(io.BytesIO(content), formats=("JPEG",)) as image:
            value = image.getexif().get(_ORIENTATION_TAG, 1)
    except (OSError, ValueError, SyntaxError, RuntimeError, IndexError, struct.error) as error:
        raise UnreadableImage(name, f"its headers can't be read ({describe_damage(error)}).") from error
    return value if value in range(1, 9) else 1


def _apply_orientation(facts: ImageFacts, *, orientation: int) -> ImageFacts:
    if orientation == 1:
        return facts
    notes = (*facts.notes, _ORIENTATION_NOTE)
    if orientation < 5:
        return replace(facts, notes=notes)
    return replace(facts, rows=facts.columns, columns=facts.rows, notes=notes)


def _check_size(rows: int, columns: int, *, name: str, attribute: str) -> None:
    if not (rows and columns):
        raise UnreadableImage(name, f"states {columns} x {rows} pixels.", attribute=attribute)
    if rows * columns > MAX_PIXELS:
        raise UnreadableImage(
            name,
            f"states {columns} x {rows} pixels; the maximum is {MAX_PIXELS // 1_000_000} million.",
            attribute=attribute,
        )
