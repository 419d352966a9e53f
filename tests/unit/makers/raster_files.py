"""Small generated PNG and JPEG files."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

from numpy.typing import NDArray
from PIL import Image


def encode_image(image: Image.Image, kind: str, **options: Any) -> bytes:
    """The image as a PNG or JPEG file."""
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def png(pixels: NDArray[Any], *, interlaced: bool = False) -> bytes:
    """A PNG of shape (rows, columns) or (rows, columns, 2 to 4), 8 or 16 bits, by the specification.

    Pillow writes neither 16-bit colour nor interlaced files, so this function does: filter 0, Adam7.
    """
    rows, columns = pixels.shape[:2]
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    depth = pixels.dtype.itemsize * 8
    big_endian = pixels.astype(pixels.dtype.newbyteorder(">")).reshape(rows, columns, channels)
    starts = (
        (0, 0, 8, 8),
        (0, 4, 8, 8),
        (4, 0, 8, 4),
        (0, 2, 4, 4),
        (2, 0, 4, 2),
        (0, 1, 2, 2),
        (1, 0, 2, 1),
    )
    passes = [big_endian[r::dr, c::dc] for r, c, dr, dc in starts] if interlaced else [big_endian]
    raw = b"".join(b"\0" + row.tobytes() for image_pass in passes if image_pass.size for row in image_pass)
    head = struct.pack(">IIBBBBB", columns, rows, depth, kind, 0, 0, int(interlaced))
    return (
        b"\x89PNG\r\n\x1a\n"
        + encode_chunk(b"IHDR", head)
        + encode_chunk(b"IDAT", zlib.compress(raw))
        + encode_chunk(b"IEND")
    )


def encode_chunk(kind: bytes, body: bytes = b"") -> bytes:
    """One PNG chunk with its length and checksum."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def make_png_of_size(columns: int, rows: int) -> bytes:
    """A few hundred bytes whose header declares a grey PNG of that size."""
    head = struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)
    data = zlib.compress(bytes(1000))
    return (
        b"\x89PNG\r\n\x1a\n"
        + encode_chunk(b"IHDR", head)
        + encode_chunk(b"IDAT", data)
        + encode_chunk(b"IEND")
    )
