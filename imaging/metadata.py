"""Removes metadata from PNG, JPEG and JPEG 2000 streams.

Comments, EXIF, XMP, profiles, text chunks and bytes after the end may contain a name. The bytes of the
picture are not changed, so its pixel values stay the same.
"""

from __future__ import annotations

import struct
import zlib

from imaging.errors import DamagedContent, UnreadableImage

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# PNG (third edition) 11: the picture, and numbers that define the meaning of its values.
_KEPT_PNG_CHUNKS = {b"IHDR", b"PLTE", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT", b"pHYs", b"IDAT", b"IEND"}

_SOI, _EOI, _SOS, _COM = 0xD8, 0xD9, 0xDA, 0xFE
_APP0, _APP8, _APP14 = 0xE0, 0xE8, 0xEE
# ITU-T T.81 B.1.1.3: markers without a length of their own.
_MARKERS_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD8)}
_MAX_APP_SEGMENT_LENGTH = 32  # bytes; a longer application segment contains more than a few numbers

# ITU-T T.800 A.2: comment, start of tile part, end of codestream.
_J2K_COM, _J2K_SOT = 0xFF64, 0xFF90


def strip_metadata(content: bytes, *, name: str, orientation: int = 1) -> bytes:
    """A PNG or JPEG file without its metadata.

    Args:
        content: the whole file, which :mod:`imaging.raster` has described without an error.
        name: of the file, for the error's text.
        orientation: EXIF's, 1 to 8; one other than 1 is kept, because the picture is turned by it.

    Raises:
        UnreadableImage: the structure of the file is not valid.
    """
    try:
        if content.startswith(_PNG_SIGNATURE):
            return _strip_png(content)
        return strip_jpeg_metadata(content, orientation=orientation)
    except (IndexError, ValueError, struct.error) as error:
        raise UnreadableImage(name, "is put together in a way that can't be cleaned.") from error


def _strip_png(content: bytes) -> bytes:
    kept_chunks, position = [_PNG_SIGNATURE], len(_PNG_SIGNATURE)
    while True:
        length, kind = struct.unpack_from(">I4s", content, position)
        body = content[position + 8 : position + 8 + length]
        if kind in _KEPT_PNG_CHUNKS:
            kept_chunks.append(
                struct.pack(">I", length) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
            )
        elif not kind[0] & 0x20:
            raise DamagedContent("a critical chunk that is not known")
        position += 12 + length
        if kind == b"IEND":
            return b"".join(kept_chunks)


def strip_jpeg_metadata(content: bytes, *, orientation: int = 1) -> bytes:
    """A JPEG or JPEG-LS stream with its tables and scans only, up to its end marker.

    Args:
        content: the stream; bytes after its end marker are removed.
        orientation: EXIF's, 1 to 8; one other than 1 is written as the only EXIF entry.

    Raises:
        ValueError: the structure of the stream is not valid.
        IndexError: the stream ends too early.
    """
    kept_segments = [b"\xff\xd8"] + ([_orientation_segment(orientation)] if orientation != 1 else [])
    position = 2
    while True:
        if content[position] != 0xFF:
            raise DamagedContent(f"no marker at {position}")
        marker = content[position + 1]
        if marker == 0xFF:  # a fill byte
            position += 1
            continue
        if marker == _EOI:
            return b"".join([*kept_segments, b"\xff\xd9"])
        if marker in _MARKERS_WITHOUT_LENGTH:
            kept_segments.append(content[position : position + 2])
            position += 2
            continue
        length = int.from_bytes(content[position + 2 : position + 4])
        end = position + 2 + length
        if length < 2 or end > len(content):
            raise DamagedContent(f"a segment that leaves the file at {position}")
        if marker == _SOS:
            end = _find_scan_end(content, end)
        if _keeps_segment(marker, length):
            kept_segments.append(content[position:end])
        position = end


def _keeps_segment(marker: int, length: int) -> bool:
    if marker == _COM:
        return False
    if 0xE0 <= marker <= 0xEF:
        # JFIF, and the colour transforms of JPEG-LS and Adobe: a few numbers that the decoder needs
        return marker in {_APP0, _APP8, _APP14} and length <= _MAX_APP_SEGMENT_LENGTH
    return True


def _find_scan_end(content: bytes, position: int) -> int:
    """The place of the next marker: in a scan 0xFF is followed by 0 (by less than 0x80 in JPEG-LS)."""
    while True:
        position = content.find(b"\xff", position)
        if position < 0 or position + 1 >= len(content):
            raise DamagedContent("the scan has no end")
        next_byte = content[position + 1]
        if next_byte >= 0xC0 and next_byte not in range(0xD0, 0xD8) and next_byte != 0xFF:
            return position
        position += 1 if next_byte == 0xFF else 2


def _orientation_segment(orientation: int) -> bytes:
    """An APP1 segment with the orientation only."""
    tiff = struct.pack(">2sHIHHHIHHI", b"MM", 42, 8, 1, 0x0112, 3, 1, orientation, 0, 0)
    body = b"Exif\0\0" + tiff
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def strip_jpeg_2000_comments(stream: bytes) -> bytes:
    """A JPEG 2000 codestream without the comments of its main header and bytes after its end.

    Args:
        stream: the codestream, beginning with SOC.

    Raises:
        ValueError: the structure of the main header is not valid.
    """
    kept_segments, position = [stream[:2]], 2
    while True:
        marker = int.from_bytes(stream[position : position + 2])
        if marker == _J2K_SOT:
            return b"".join([*kept_segments, stream[position : stream.rfind(b"\xff\xd9") + 2]])
        length = int.from_bytes(stream[position + 2 : position + 4])
        end = position + 2 + length
        if marker < 0xFF00 or length < 2 or end > len(stream):
            raise DamagedContent(f"a segment that leaves the stream at {position}")
        if marker != _J2K_COM:
            kept_segments.append(stream[position:end])
        position = end
