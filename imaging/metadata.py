"""Removes metadata from PNG, JPEG and JPEG 2000 streams.

Comments, EXIF, XMP, profiles, text chunks and trailing bytes may contain a name. The compressed image data is
copied unchanged, so the pixel values do not change.
"""

from __future__ import annotations

import struct
import zlib

from imaging.errors import DamagedContent, UnreadableImage

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# PNG (third edition) 11: the image data, and numbers that define the meaning of the pixel values.
_KEPT_PNG_CHUNKS = {b"IHDR", b"PLTE", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT", b"pHYs", b"IDAT", b"IEND"}

_SOI, _EOI, _SOS, _COM = 0xD8, 0xD9, 0xDA, 0xFE
_APP0, _APP8, _APP14 = 0xE0, 0xE8, 0xEE
# ITU-T T.81 B.1.1.3: markers without a length field.
_MARKERS_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD8)}
_MAX_APP_SEGMENT_LENGTH = 32  # bytes; a longer application segment may contain text

# ITU-T T.800 A.2: comment, start of tile part, end of codestream.
_J2K_COM, _J2K_SOT = 0xFF64, 0xFF90


def strip_metadata(content: bytes, *, name: str, orientation: int = 1) -> bytes:
    """Remove the metadata of a PNG or JPEG file.

    Args:
        content: the whole file, which :func:`imaging.raster.describe` has accepted.
        name: the file name, used in error messages.
        orientation: the EXIF orientation, 1 to 8. A value other than 1 is kept, because the display needs it.

    Raises:
        UnreadableImage: the structure of the file is not valid.
    """
    try:
        if content.startswith(_PNG_SIGNATURE):
            return _strip_png(content)
        return strip_jpeg_metadata(content, orientation=orientation)
    except (IndexError, ValueError, struct.error) as error:
        raise UnreadableImage(name, "has an invalid structure, so its metadata can't be removed.") from error


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
            raise DamagedContent("an unknown critical chunk")
        position += 12 + length
        if kind == b"IEND":
            return b"".join(kept_chunks)


def strip_jpeg_metadata(content: bytes, *, orientation: int = 1) -> bytes:
    """Remove everything from a JPEG or JPEG-LS stream except its tables and scans.

    Args:
        content: the stream; bytes after its end marker are removed.
        orientation: the EXIF orientation, 1 to 8. A value other than 1 is written as the only EXIF entry.

    Raises:
        ValueError: the structure of the stream is not valid.
        IndexError: the stream is truncated.
    """
    kept_segments = [b"\xff\xd8"] + ([_orientation_segment(orientation)] if orientation != 1 else [])
    position = 2
    while True:
        if content[position] != 0xFF:
            raise DamagedContent(f"no marker at byte {position}")
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
        _check_segment(position, length, end, len(content))
        if marker == _SOS:
            end = _find_scan_end(content, end)
        if _keeps_segment(marker, length):
            kept_segments.append(content[position:end])
        position = end


def _check_segment(position: int, length: int, end: int, size: int) -> None:
    """Check the length of a segment. The length includes its own two bytes."""
    if length < 2:
        raise DamagedContent(f"the segment at byte {position} has a length of {length}; the minimum is 2")
    if end > size:
        raise DamagedContent(f"the segment at byte {position} extends past the end of the data")


def _keeps_segment(marker: int, length: int) -> bool:
    if marker == _COM:
        return False
    if 0xE0 <= marker <= 0xEF:
        # JFIF, and the colour transforms of JPEG-LS and Adobe, contain a few numbers that the decoder needs
        return marker in {_APP0, _APP8, _APP14} and length <= _MAX_APP_SEGMENT_LENGTH
    return True


def _find_scan_end(content: bytes, position: int) -> int:
    """Find the next marker. In scan data, 0xFF is followed by 0, or in JPEG-LS by a byte below 0x80."""
    while True:
        position = content.find(b"\xff", position)
        if position < 0 or position + 1 >= len(content):
            raise DamagedContent("the scan has no end")
        next_byte = content[position + 1]
        if next_byte >= 0xC0 and next_byte not in range(0xD0, 0xD8) and next_byte != 0xFF:
            return position
        position += 1 if next_byte == 0xFF else 2


def _orientation_segment(orientation: int) -> bytes:
    """Build an APP1 segment whose only EXIF entry is the orientation."""
    tiff = struct.pack(">2sHIHHHIHHI", b"MM", 42, 8, 1, 0x0112, 3, 1, orientation, 0, 0)
    body = b"Exif\0\0" + tiff
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def strip_jpeg_2000_comments(stream: bytes) -> bytes:
    """Remove the comments in the main header of a JPEG 2000 codestream, and the bytes after its end.

    Args:
        stream: the codestream, which begins with SOC.

    Raises:
        ValueError: the structure of the main header is not valid.
    """
    kept_segments, position = [stream[:2]], 2
    while True:
        marker = int.from_bytes(stream[position : position + 2])
        if marker == _J2K_SOT:
            return b"".join([*kept_segments, stream[position : stream.rfind(b"\xff\xd9") + 2]])
        if marker < 0xFF00:
            raise DamagedContent(f"no marker at byte {position}")
        length = int.from_bytes(stream[position + 2 : position + 4])
        end = position + 2 + length
        _check_segment(position, length, end, len(stream))
        if marker != _J2K_COM:
            kept_segments.append(stream[position:end])
        position = end
