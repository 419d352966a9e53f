"""Headers of compressed streams (JPEG, JPEG-LS, JPEG 2000): size, precision, number of samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_SOI, _EOI, _SOS = b"\xff\xd8", b"\xff\xd9", 0xDA
_SOC = b"\xff\x4f\xff\x51"
# Start-of-frame markers (ITU-T T.81 B.1.1.3, T.87 C.1.1): C0 to CF except DHT, JPG and DAC; F7 is JPEG-LS.
_FRAME_MARKERS = {marker for marker in range(0xC0, 0xD0) if marker not in {0xC4, 0xC8, 0xCC}} | {0xF7}
_MARKERS_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD9)}


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameHeader:
    """The header of one compressed frame.

    ``precision`` is the number of bits per sample, ``samples`` the number of samples per pixel. ``signed``
    can only be true for JPEG 2000.
    """

    rows: int
    columns: int
    precision: int
    samples: int
    signed: bool = False


def read_frame_header(stream: bytes) -> FrameHeader | None:
    """Read the frame header of a JPEG, JPEG-LS or JPEG 2000 codestream without decoding pixels.

    Args:
        stream: a stream that begins with SOI (JPEG, JPEG-LS) or SOC (JPEG 2000).

    Returns:
        The header; None if the stream is of another kind or ends before the header.
    """
    if stream.startswith(_SOC):
        return _read_jpeg_2000_header(stream)
    if stream.startswith(_SOI):
        return _read_jpeg_header(stream)
    return None


def has_jpeg_end(stream: bytes) -> bool:
    """Whether a JPEG stream has an end marker after the start of its scan.

    A thumbnail in an EXIF segment is a JPEG stream with its own scan and end marker, so segments are skipped.
    Scan data contains no end marker, because each byte 0xFF in it is followed by 0 (ITU-T T.81 F.1.2.3).

    Args:
        stream: a stream that begins with SOI.
    """
    scan_start = next((position for marker, position in _list_segments(stream) if marker == _SOS), None)
    return scan_start is not None and stream.find(_EOI, scan_start) >= 0


def _read_jpeg_header(stream: bytes) -> FrameHeader | None:
    for marker, position in _list_segments(stream):
        if marker in _FRAME_MARKERS and position + 10 <= len(stream):
            return FrameHeader(
                precision=stream[position + 4],
                rows=int.from_bytes(stream[position + 5 : position + 7]),
                columns=int.from_bytes(stream[position + 7 : position + 9]),
                samples=stream[position + 9],
            )
    return None


def _list_segments(stream: bytes) -> Iterator[tuple[int, int]]:
    """Yield the marker and position of each JPEG segment up to the first scan, or up to invalid bytes."""
    position = 2
    while position + 4 <= len(stream) and stream[position] == 0xFF:
        marker = stream[position + 1]
        if marker == 0xFF:  # fill byte
            position += 1
            continue
        if marker in _MARKERS_WITHOUT_LENGTH:
            position += 2
            continue
        yield marker, position
        length = int.from_bytes(stream[position + 2 : position + 4])
        if length < 2 or marker == _SOS:
            return
        position += 2 + length


def _read_jpeg_2000_header(stream: bytes) -> FrameHeader | None:
    # ITU-T T.800 A.5.1: SOC, then the SIZ segment with marker, length, capabilities and, from byte 8, the
    # sizes
    if len(stream) < 43:
        return None
    right, bottom, left, top = (int.from_bytes(stream[offset : offset + 4]) for offset in (8, 12, 16, 20))
    precision_byte = stream[42]
    return FrameHeader(
        rows=bottom - top,
        columns=right - left,
        precision=(precision_byte & 0x7F) + 1,
        samples=int.from_bytes(stream[40:42]),
        signed=bool(precision_byte & 0x80),
    )
