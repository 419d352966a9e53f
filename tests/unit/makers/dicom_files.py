"""Small generated DICOM files: a ramp of grey values with the attributes that a test sets."""

from __future__ import annotations

import io
import zlib
from typing import Any

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from pydicom import Dataset
from pydicom.dataset import FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.filebase import DicomBytesIO
from pydicom.filewriter import dcmwrite, write_dataset
from pydicom.uid import (
    UID,
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    HTJ2KLossless,
    ImplicitVRLittleEndian,
    JPEG2000Lossless,
    JPEGBaseline8Bit,
    JPEGLosslessSV1,
    JPEGLSLossless,
    RLELossless,
)

COMPUTED_RADIOGRAPHY = "1.2.840.10008.5.1.4.1.1.1"
DIGITAL_XRAY = "1.2.840.10008.5.1.4.1.1.1.1"
SECONDARY_CAPTURE = "1.2.840.10008.5.1.4.1.1.7"
CT = "1.2.840.10008.5.1.4.1.1.2"


def ramp(rows: int = 24, columns: int = 32, *, bits: int = 12, signed: bool = False) -> NDArray[Any]:
    """Grey values from the lowest to the highest that ``bits`` can hold, row by row."""
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    dtype = np.uint8 if bits <= 8 else (np.int16 if signed else np.uint16)
    return np.rint(np.linspace(low, high, rows * columns)).astype(dtype).reshape(rows, columns)


def dicom(
    pixels: NDArray[Any] | None = None,
    *,
    syntax: UID = ExplicitVRLittleEndian,
    bits: int = 12,
    pixel_data: bytes | None = None,
    omit: tuple[str, ...] = (),
    preamble: bool = True,
    **attributes: Any,
) -> bytes:
    """A DX file of ``pixels`` (a 12-bit ramp by default); keywords add or replace attributes."""
    pixels = ramp(bits=bits) if pixels is None else pixels
    dataset = make_header(pixels, bits=bits)
    dataset.update({})
    for keyword, value in attributes.items():
        setattr(dataset, keyword, value)
    for keyword in omit:
        delattr(dataset, keyword)
    if pixel_data is None:
        pixel_data = _encode_pixels(pixels, syntax)
    dataset.PixelData = pixel_data if len(pixel_data) % 2 == 0 else pixel_data + b"\0"
    dataset["PixelData"].VR = "OB" if syntax.is_encapsulated or pixels.dtype.itemsize == 1 else "OW"
    return encode_dataset(dataset, syntax=syntax, preamble=preamble)


def make_header(pixels: NDArray[Any], *, bits: int = 12) -> Dataset:
    """The attributes of a DX image with those pixels, without a window."""
    dataset = Dataset()
    dataset.SOPClassUID = DIGITAL_XRAY
    dataset.SOPInstanceUID = "2.25.1"
    dataset.Modality = "DX"
    dataset.PatientName = "Secret^Name"
    dataset.PatientID = "MRN-12345"
    dataset.PatientAge = "058Y"
    dataset.PatientSex = "F"
    dataset.ViewPosition = "PA"
    dataset.SamplesPerPixel = 1 if pixels.ndim == 2 else pixels.shape[2]
    dataset.PhotometricInterpretation = "MONOCHROME2" if pixels.ndim == 2 else "RGB"
    if pixels.ndim == 3:
        dataset.PlanarConfiguration = 0
    dataset.Rows, dataset.Columns = pixels.shape[:2]
    dataset.BitsAllocated = pixels.dtype.itemsize * 8
    dataset.BitsStored = min(bits, pixels.dtype.itemsize * 8)
    dataset.HighBit = dataset.BitsStored - 1
    dataset.PixelRepresentation = 1 if pixels.dtype.kind == "i" else 0
    return dataset


def encode_dataset(dataset: Dataset, *, syntax: UID = ExplicitVRLittleEndian, preamble: bool = True) -> bytes:
    """The dataset as a file."""
    file = io.BytesIO()
    if not preamble:
        stream = DicomBytesIO()
        stream.is_little_endian = syntax.is_little_endian
        stream.is_implicit_VR = syntax.is_implicit_VR
        write_dataset(stream, dataset)
        return stream.getvalue()
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = syntax
    dataset.file_meta.MediaStorageSOPClassUID = dataset.get("SOPClassUID", DIGITAL_XRAY)
    dataset.file_meta.MediaStorageSOPInstanceUID = UID("2.25.1")
    dcmwrite(file, dataset, enforce_file_format=True)
    return file.getvalue()


def deflate_bomb(size: int) -> bytes:
    """A deflated DX file whose pixel data alone inflate to ``size`` bytes of zero."""
    content = dicom(ramp(2, 2), syntax=DeflatedExplicitVRLittleEndian)
    position = content.index(b"1.2.840.10008.1.2.1.99")
    position = content.index(b"\x02\x00", position)  # the rest of the meta group
    meta_length = int.from_bytes(content[140:144], "little")
    start = 144 + meta_length
    inflated = zlib.decompress(content[start:], -zlib.MAX_WBITS)
    tag = b"\xe0\x7f\x10\x00OW\x00\x00"
    inflated = inflated[: inflated.index(tag)] + tag + size.to_bytes(4, "little")
    deflater = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    parts = [content[:start], deflater.compress(inflated)]
    zeros = bytes(1 << 20)
    parts += [deflater.compress(zeros) for _ in range(size >> 20)]
    return b"".join([*parts, deflater.flush()])


def dicom_with_nested_sequences(depth: int) -> bytes:
    """A DX file with a private sequence within a sequence, ``depth`` deep, of undefined lengths."""
    content = dicom()
    start = 144 + int.from_bytes(content[140:144], "little")
    open_sequence = b"\x08\x00\x15\x11SQ\x00\x00\xff\xff\xff\xff" + b"\xfe\xff\x00\xe0\xff\xff\xff\xff"
    close_sequence = b"\xfe\xff\x0d\xe0\0\0\0\0" + b"\xfe\xff\xdd\xe0\0\0\0\0"
    return content[:start] + open_sequence * depth + close_sequence * depth + content[start:]


def _encode_pixels(pixels: NDArray[Any], syntax: UID) -> bytes:
    if syntax in {ImplicitVRLittleEndian, ExplicitVRLittleEndian, DeflatedExplicitVRLittleEndian}:
        return pixels.astype(pixels.dtype.newbyteorder("<")).tobytes()
    if syntax == ExplicitVRBigEndian:
        return pixels.astype(pixels.dtype.newbyteorder(">")).tobytes()
    return encapsulate([encode_codestream(pixels, syntax)])


def encode_codestream(pixels: NDArray[Any], syntax: UID) -> bytes:
    """The pixels in lossless compression (JPEG baseline: nearly lossless)."""
    unsigned = pixels.view(np.uint16) if pixels.dtype == np.int16 else pixels
    if syntax == JPEGBaseline8Bit:
        return bytes(imagecodecs.jpeg8_encode(pixels, level=98))
    if syntax == JPEGLosslessSV1:
        return bytes(imagecodecs.jpeg8_encode(unsigned, lossless=True, predictor=1))
    if syntax == JPEGLSLossless:
        return bytes(imagecodecs.jpegls_encode(unsigned))
    if syntax == JPEG2000Lossless:
        return bytes(imagecodecs.jpeg2k_encode(pixels, level=0, codecformat="J2K", reversible=True))
    if syntax == HTJ2KLossless:
        return bytes(imagecodecs.htj2k_encode(pixels, reversible=True))
    if syntax == RLELossless:
        return _encode_rle(pixels)
    raise ValueError(f"the tests make no {syntax.name}")


def _encode_rle(pixels: NDArray[Any]) -> bytes:
    """PS3.5 annex G with literal runs only: for each sample, the high bytes, then the low bytes."""
    size = pixels.dtype.itemsize
    samples = [pixels] if pixels.ndim == 2 else list(np.moveaxis(pixels, -1, 0))
    segments = []
    for sample in samples:
        data = sample.astype(pixels.dtype.newbyteorder(">")).tobytes()
        for plane in range(size):
            values = data[plane::size]
            runs = (values[start : start + 128] for start in range(0, len(values), 128))
            packed = b"".join(bytes([len(run) - 1]) + run for run in runs)
            segments.append(packed + b"\0" * (len(packed) % 2))
    count = len(segments)
    offsets = [64 + sum(map(len, segments[:index])) for index in range(count)]
    header_values = [count, *offsets, *[0] * (15 - count)]
    return b"".join(number.to_bytes(4, "little") for number in header_values) + b"".join(segments)
