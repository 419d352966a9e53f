"""Headers of compressed streams (JPEG, JPEG-LS, JPEG 2000): size, precision, number of samples."""

from __future__ import annotations

from dataclasses import dataclass

_SOI = b"\xff\xd8"
_SOC = b"\xff\x4f\xff\x51"
# Start-of-frame markers (ITU-T T.81 B.1.1.3, T.87 C.1.1): all of C0-CF but DHT, JPG and DAC; F7 is JPEG-LS.
_FRAME_MARKERS = {marker for marker in range(0xC0, 0xD0) if marker not in {0xC4, 0xC8, 0xCC}} | {0xF7}
_MARKERS_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD9)}


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameHeader:
    """Header of one compressed frame.

    ``precision`` is in bits per sample, ``samples`` per pixel. ``signed`` can only be true for JPEG 2000.
    """

    rows: int
    columns: int
    precision: int
    samples: int
    signed: bool = False


def read_frame_header(stream: bytes) -> FrameHeader | None:
    """Read the frame header of a JPEG, JPEG-LS or JPEG 2000 codestream; the pixels are not decoded.

    Args:
        stream: begins with SOI (JPEG, JPEG-LS) or SOC (JPEG 2000).

    Returns:
        The header; None for another stream, or if it ends before the header.
    """
    if stream.startswith(_SOC):
        return _read_jpeg_2000_header(stream)
    if stream.startswith(_SOI):
        return _read_jpeg_header(stream)
    return None


def _read_jpeg_header(stream: bytes) -> FrameHeader | None:
    position = 2
    while position + 4 <= len(stream):
        if stream[position] != 0xFF:
            return None
        marker = stream[position + 1]
        if marker == 0xFF:  # fill byte
            position += 1
            continue
        if marker in _MARKERS_WITHOUT_LENGTH:
            position += 2
            continue
        length = int.from_bytes(stream[position + 2 : position + 4])
        if marker in _FRAME_MARKERS:
            if position + 10 > len(stream):
                return None
            return FrameHeader(
                precision=stream[position + 4],
                rows=int.from_bytes(stream[position + 5 : position + 7]),
                columns=int.from_bytes(stream[position + 7 : position + 9]),
                samples=stream[position + 9],
            )
        if length < 2:
            return None
        position += 2 + length
    return None


def _read_jpeg_2000_header(stream: bytes) -> FrameHeader | None:
    # SIZ (ITU-T T.800 A.5.1): SOC, marker, length, capabilities, then the sizes, from byte 8 on.
    if len(stream) < 43:
        return None
    right, bottom, left, top = (int.from_bytes(stream[offset : offset + 4]) for offset in (8, 12, 16, 20))
    precision = stream[42]
    return FrameHeader(
        rows=bottom - top,
        columns=right - left,
        precision=(precision & 0x7F) + 1,
        samples=int.from_bytes(stream[40:42]),
        signed=bool(precision & 0x80),
    )
