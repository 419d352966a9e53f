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

from imaging.codestream import read_frame_header
from imaging.errors import UnreadableImage, describe_damage
from imaging.radiograph import AS_STORED, JPEG, MAX_PIXELS, PNG, DecodedRadiograph, ImageFacts

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_JPEG_SIGNATURE = b"\xff\xd8\xff"

# PNG (third edition) 11.2.1: colour type -> photometric interpretation, allowed bit depths
_COLOUR_TYPES = {
    0: ("MONOCHROME2", {1, 2, 4, 8, 16}),
    2: ("RGB", {8, 16}),
    3: ("PALETTE COLOR", {1, 2, 4, 8}),
    4: ("MONOCHROME2", {8, 16}),
    6: ("RGB", {8, 16}),
}
_WITH_ALPHA = {4, 6}
_ORIENTATION = 0x0112  # EXIF tag; 5 to 8 lie on their side
_COLOUR_NOTE = "Stored in colour; its luminance is shown."
_ALPHA_NOTE = "Has a transparency channel; what is transparent is shown black."
_ORIENTATION_NOTE = "Carries an orientation mark (EXIF); it is shown turned as the mark says."
_TRUNCATED = "ends too early: the file was not copied whole. Fetch it again."


def is_raster(content: bytes) -> bool:
    """Whether a file is a PNG or JPEG, by its first bytes.

    Args:
        content: its first 8 bytes or more.
    """
    return content.startswith((_PNG_SIGNATURE, _JPEG_SIGNATURE))


def describe(content: bytes, *, name: str) -> ImageFacts:
    """Read the facts of a PNG or JPEG. The check sums of a PNG and the end marker of a JPEG are checked.

    Args:
        content: the whole file.
        name: of the file, for the error's text.

    Raises:
        UnreadableImage: truncated, damaged, too large, or of a kind that is not read.
    """
    if content.startswith(_PNG_SIGNATURE):
        return _describe_png(_read_png_header(content, name=name))
    return _describe_jpeg(content, name=name)


def read(content: bytes, *, name: str) -> DecodedRadiograph:
    """Decode a PNG or JPEG.

    Colour becomes luminance (ITU-R BT.601), transparent pixels become black, and a JPEG is turned by its EXIF
    orientation.

    Args:
        content: the whole file.
        name: of the file, for the error's text.

    Returns:
        Pixels of shape (rows, columns), uint16 for a PNG of 16 bits and uint8 otherwise; 0 is black. Fewer
        than 8 bits are scaled to 0 to 255.

    Raises:
        UnreadableImage: as :func:`describe`, or the pixels can't be decoded.
    """
    facts = describe(content, name=name)
    try:
        if facts.media_type == JPEG:
            with Image.open(io.BytesIO(content), formats=("JPEG",)) as image:
                image.draft("L", image.size)  # the decoder returns luminance only
                pixels = np.asarray(ImageOps.exif_transpose(image).convert("L"))
        else:
            pixels = _decode_png(content, header=_read_png_header(content, name=name))
    # Pillow and the codecs raise many kinds of errors on damaged data
    except (OSError, ValueError, SyntaxError, RuntimeError, IndexError, struct.error, zlib.error) as error:
        raise UnreadableImage(name, f"the pixels can't be decoded ({describe_damage(error)}).") from error
    if pixels.shape != (facts.rows, facts.columns):
        raise UnreadableImage(
            name, f"decodes to {pixels.shape}, not to the {facts.rows} rows and columns it says."
        )
    return DecodedRadiograph(
        facts=facts,
        pixels=pixels,
        modality=np.arange(256 if pixels.dtype == np.uint8 else 65536, dtype=np.float32),
        windows=(AS_STORED,) if pixels.dtype == np.uint8 else (),
    )


# ------------------------------------------------------------------------------------------------ PNG
@dataclass(frozen=True, slots=True, kw_only=True)
class _PngHeader:
    columns: int
    rows: int
    depth: int
    colour_type: int


def _read_png_header(content: bytes, *, name: str) -> _PngHeader:
    """IHDR, after a check of all chunks: complete, with the right check sum, and IEND at the end."""
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
                name, "its check sum is wrong: the file is damaged.", attribute=_chunk_name(kind)
            )
        if header is None:
            if kind != b"IHDR" or length != 13:
                raise UnreadableImage(name, "is not the first chunk.", attribute="PNG IHDR")
            header = _parse_ihdr(content[position + 8 : position + 8 + length], name=name)
        if kind == b"acTL":
            raise UnreadableImage(
                name, "is an animation; one image a file is read.", attribute=_chunk_name(kind)
            )
        has_pixels = has_pixels or kind == b"IDAT"
        position += 12 + length
        if kind == b"IEND":
            if not has_pixels:
                raise UnreadableImage(name, "is missing: there are no pixels.", attribute="PNG IDAT")
            return header
    raise UnreadableImage(name, _TRUNCATED)


def _parse_ihdr(body: bytes, *, name: str) -> _PngHeader:
    columns, rows, depth, colour_type = struct.unpack_from(">IIBB", body)
    if colour_type not in _COLOUR_TYPES or depth not in _COLOUR_TYPES[colour_type][1]:
        raise UnreadableImage(
            name, f"no PNG has colour type {colour_type} with {depth} bits.", attribute="PNG IHDR"
        )
    _check_size(rows, columns, name=name, attribute="PNG IHDR")
    return _PngHeader(columns=columns, rows=rows, depth=depth, colour_type=colour_type)


def _describe_png(header: _PngHeader) -> ImageFacts:
    photometric = _COLOUR_TYPES[header.colour_type][0]
    notes = []
    if photometric != "MONOCHROME2":
        notes.append(_COLOUR_NOTE)
    if header.colour_type in _WITH_ALPHA:
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
        return _to_grey(imagecodecs.png_decode(content))  # Pillow would keep 8 of these 16 bits
    with Image.open(io.BytesIO(content), formats=("PNG",)) as image:
        if image.mode in {"L", "I;16"}:
            return np.array(image)
        if image.mode in {"LA", "RGBA"}:
            return _to_grey(np.asarray(image))
        return np.asarray(image.convert("RGB" if image.mode == "P" else "L").convert("L"))


def _to_grey(channels: NDArray[np.uint8] | NDArray[np.uint16]) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Luminance (ITU-R BT.601) of an array of shape (rows, columns, channels); black where transparent."""
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
        raise UnreadableImage(name, _TRUNCATED)
    _check_size(header.rows, header.columns, name=name, attribute="JPEG frame header")
    if header.precision != 8:
        raise UnreadableImage(
            name,
            f"has {header.precision} bits a sample; outside DICOM, JPEG is read with 8.",
            attribute="JPEG frame header",
        )
    if header.samples not in {1, 3}:
        raise UnreadableImage(
            name, f"has {header.samples} colours; 1 or 3 are read.", attribute="JPEG frame header"
        )
    # In the scan data 0xFF is followed by 0, so the end mark behind the first scan is the real one.
    if content.rfind(b"\xff\xd9") < content.find(b"\xff\xda"):
        raise UnreadableImage(name, _TRUNCATED)
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
    """The EXIF orientation of a JPEG.

    Args:
        content: the whole file.
        name: of the file, for the error's text.

    Returns:
        1 to 8; 1 if there is none, and for a PNG.

    Raises:
        UnreadableImage: the headers can't be read.
    """
    if not content.startswith(_JPEG_SIGNATURE):
        return 1
    try:
        with Image.open(io.BytesIO(content), formats=("JPEG",)) as image:
            value = image.getexif().get(_ORIENTATION, 1)
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
        raise UnreadableImage(name, f"says {rows} rows and {columns} columns.", attribute=attribute)
    if rows * columns > MAX_PIXELS:
        raise UnreadableImage(
            name,
            f"says {columns} x {rows} pixels; at most {MAX_PIXELS // 1_000_000} million are read.",
            attribute=attribute,
        )
