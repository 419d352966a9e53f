"""Compressed DICOM pixels to arrays: one library for all (docs/decisions/008-image-codecs.md)."""

from __future__ import annotations

import struct
from typing import Any

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from pydicom import uid

# JPEG 2000 takes ten times as long as the rest, and its blocks can be decoded apart. More than two threads
# gain little, and each takes its share of the memory that a reading process may have.
_JPEG_2000_THREADS = 2

_NATIVE = {
    uid.ImplicitVRLittleEndian,
    uid.ExplicitVRLittleEndian,
    uid.ExplicitVRBigEndian,
}
_JPEG = {uid.JPEGBaseline8Bit, uid.JPEGExtended12Bit, uid.JPEGLossless, uid.JPEGLosslessSV1}
_JPEG_LS = {uid.JPEGLSLossless, uid.JPEGLSNearLossless}
_JPEG_2000 = {uid.JPEG2000Lossless, uid.JPEG2000}
_HTJ2K = {uid.HTJ2KLossless, uid.HTJ2KLosslessRPCL, uid.HTJ2K}

# The transfer syntaxes whose pixels can be had (PS3.5 A).
DECODED = _NATIVE | _JPEG | _JPEG_LS | _JPEG_2000 | _HTJ2K | {uid.RLELossless}
# Those that give colour as it was stored; the others' decoders turn it into RGB.
KEEP_BRIGHTNESS_AND_COLOUR = _NATIVE | _JPEG_LS | {uid.RLELossless}


def decode(
    frame: bytes,
    *,
    syntax: uid.UID,
    shape: tuple[int, int, int],
    bits_allocated: int,
    brightness_and_colour: bool,
) -> NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.int16]:
    """One compressed frame as an array.

    Args:
        shape: (rows, columns, samples) that the DICOM header gives.
        bits_allocated: 8 or 16, of the DICOM header; used for RLE, which does not say.
        brightness_and_colour: the samples of a JPEG are YCbCr; else they are RGB or grey.

    Returns:
        Shape (rows, columns) for one sample, else (rows, columns, 3), of which JPEG and JPEG 2000 give RGB,
        JPEG-LS and RLE what was stored.

    Raises:
        RuntimeError, ValueError: the frame is damaged (the codecs' errors are kinds of RuntimeError).
    """
    if syntax in _JPEG:
        inside = "YCBCR" if brightness_and_colour else "RGB"
        colours: dict[str, Any] = {"colorspace": inside, "outcolorspace": "RGB"} if shape[2] == 3 else {}
        return imagecodecs.jpeg8_decode(frame, **colours)
    if syntax in _JPEG_LS:
        return imagecodecs.jpegls_decode(frame)
    if syntax in _JPEG_2000 | _HTJ2K:
        # OpenJPEG for both: htj2k_decode gives what it has of a damaged frame, without a word
        return imagecodecs.jpeg2k_decode(frame, numthreads=_JPEG_2000_THREADS)
    return _rle(frame, shape=shape, bits_allocated=bits_allocated)


def _rle(
    frame: bytes, *, shape: tuple[int, int, int], bits_allocated: int
) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """PS3.5 annex G: a plane for each byte of each sample, the high byte first.

    Each is unpacked by itself, within bounds that are checked here: imagecodecs' decoder of whole frames
    believes the offsets that it reads, and reads past the end.
    """
    rows, columns, samples = shape
    size = bits_allocated // 8
    count = samples * size
    _, *offsets = struct.unpack_from("<16I", frame)
    ends = [*offsets[1:count], len(frame)]
    planes = np.empty((count, rows * columns), np.uint8)
    for plane, start, end in zip(planes, offsets, ends, strict=False):
        if not 64 <= start < end <= len(frame):
            raise ValueError(f"an RLE segment from {start} to {end} in {len(frame)} bytes")
        unpacked = np.frombuffer(imagecodecs.packbits_decode(frame[start:end]), np.uint8)
        if unpacked.size < rows * columns:
            raise ValueError(f"an RLE segment of {unpacked.size} pixels, not {rows * columns}")
        plane[:] = unpacked[: rows * columns]
    by_sample = planes.reshape(samples, size, rows, columns)
    values = by_sample[:, 0] if size == 1 else by_sample[:, 0].astype(np.uint16) << 8 | by_sample[:, 1]
    grey_or_colour: NDArray[Any] = values[0] if samples == 1 else np.moveaxis(values, 0, -1)
    return grey_or_colour
