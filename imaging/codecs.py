"""Decodes compressed DICOM pixels with one library (docs/decisions/008-image-codecs.md)."""

from __future__ import annotations

import struct
from typing import Any

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from pydicom import uid

from imaging.errors import DamagedContent

# JPEG 2000 takes ten times as long as the other codecs, and its blocks can be decoded in parallel. More than
# two threads gain little, and each uses part of the memory limit of a decoder process.
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

# The transfer syntaxes that can be decoded (PS3.5 A).
SUPPORTED_SYNTAXES = _NATIVE | _JPEG | _JPEG_LS | _JPEG_2000 | _HTJ2K | {uid.RLELossless}
# The decoders of these syntaxes return colour as it was stored. The other decoders convert it to RGB.
KEEPS_YCBCR = _NATIVE | _JPEG_LS | {uid.RLELossless}


def decode(
    frame: bytes,
    *,
    syntax: uid.UID,
    shape: tuple[int, int, int],
    bits_allocated: int,
    is_ycbcr: bool,
) -> NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.int16]:
    """Decode one compressed frame.

    Args:
        frame: the compressed stream, with its fragments joined.
        syntax: a compressed (encapsulated) syntax of ``SUPPORTED_SYNTAXES``.
        shape: (rows, columns, samples) as the DICOM header states them.
        bits_allocated: Bits Allocated (0028,0100), 8 or 16. Needed for RLE streams, which do not contain it.
        is_ycbcr: whether the samples of a JPEG are YCbCr; otherwise they are RGB or grey.

    Returns:
        Shape (rows, columns) for one sample, else (rows, columns, 3). Colours of JPEG and JPEG 2000 are RGB;
        colours of JPEG-LS and RLE are as stored. The caller must compare the shape with the header.

    Raises:
        RuntimeError: the frame is damaged; the codecs' errors are subclasses.
        ValueError: the frame is damaged (RLE).
    """
    if syntax in _JPEG:
        stored_space = "YCBCR" if is_ycbcr else "RGB"
        colour_options: dict[str, Any] = (
            {"colorspace": stored_space, "outcolorspace": "RGB"} if shape[2] == 3 else {}
        )
        return imagecodecs.jpeg8_decode(frame, **colour_options)
    if syntax in _JPEG_LS:
        return imagecodecs.jpegls_decode(frame)
    if syntax in _JPEG_2000 | _HTJ2K:
        # HTJ2K is also decoded with OpenJPEG: htj2k_decode returns part of a damaged frame without an error
        return imagecodecs.jpeg2k_decode(frame, numthreads=_JPEG_2000_THREADS)
    return _decode_rle(frame, shape=shape, bits_allocated=bits_allocated)


def _decode_rle(
    frame: bytes, *, shape: tuple[int, int, int], bits_allocated: int
) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Decode RLE (PS3.5 annex G): one plane for each byte of each sample, the high byte first.

    Each plane is unpacked separately after its bounds are checked: imagecodecs' decoder of whole frames
    trusts the offsets in the stream and reads past the end.
    """
    rows, columns, samples = shape
    sample_bytes = bits_allocated // 8
    segment_count = samples * sample_bytes
    _, *offsets = struct.unpack_from("<16I", frame)
    ends = [*offsets[1:segment_count], len(frame)]
    planes = np.empty((segment_count, rows * columns), np.uint8)
    for plane, start, end in zip(planes, offsets, ends, strict=False):
        if not 64 <= start < end <= len(frame):
            raise DamagedContent(f"an RLE segment from {start} to {end} in {len(frame)} bytes")
        unpacked = np.frombuffer(imagecodecs.packbits_decode(frame[start:end]), np.uint8)
        if unpacked.size < rows * columns:
            raise DamagedContent(f"an RLE segment of {unpacked.size} pixels, not {rows * columns}")
        plane[:] = unpacked[: rows * columns]
    by_sample = planes.reshape(samples, sample_bytes, rows, columns)
    values = (
        by_sample[:, 0] if sample_bytes == 1 else by_sample[:, 0].astype(np.uint16) << 8 | by_sample[:, 1]
    )
    pixels: NDArray[Any] = values[0] if samples == 1 else np.moveaxis(values, 0, -1)
    return pixels
