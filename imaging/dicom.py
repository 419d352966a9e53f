"""Reads the facts and pixels of DICOM radiographs: CR, DX, and secondary captures of radiographs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydicom import Dataset
from pydicom.pixels.processing import apply_color_lut
from pydicom.uid import UID

from imaging import codecs
from imaging.dicom_file import DAMAGED_HEADER_ERRORS, attribute_name, is_dicom, parse
from imaging.dicom_rules import check_modality, check_pixels, join_fragments, read_integer
from imaging.dicom_stored_header import read_stored_header
from imaging.errors import UnreadableImage, describe_damage
from imaging.grayscale import decode_grayscale
from imaging.pseudonyms import PseudonymKey
from imaging.radiograph import DICOM, DecodedRadiograph, ImageFacts

__all__ = ["describe", "is_dicom", "read"]

_COLOUR_NOTE = "Stored in colour; its luminance is shown."


def describe(content: bytes, *, name: str, key: PseudonymKey | None = None) -> ImageFacts:
    """Read the facts of a DICOM radiograph from its header, and check that its pixels can be shown.

    Args:
        content: the whole file.
        name: the file name, used in error messages.
        key: the key for the patient's pseudonym. Without a key the facts have no patient, unless the header
            states that Patient ID (0010,0020) is already de-identified.

    Raises:
        UnreadableImage: the file is not a radiograph, or it can't be shown. The error contains the attribute.
    """
    return _read_facts(_parse_checked(content, name=name), name=name, key=key)


def read(content: bytes, *, name: str) -> DecodedRadiograph:
    """Decode the stored pixels of a DICOM radiograph, and the attributes that define how they are shown.

    Colour is converted to luminance (ITU-R BT.601) with 8 bits.

    Args:
        content: the whole file.
        name: the file name, used in error messages.

    Returns:
        Stored values in shape (rows, columns): uint8, uint16 or, with Pixel Representation (0028,0103) 1,
        int16. No transform is applied to them.

    Raises:
        UnreadableImage: as in :func:`describe`, or the pixels can't be decoded.
    """
    dataset = _parse_checked(content, name=name)
    facts = _read_facts(dataset, name=name)
    try:
        pixels = _decode_native(dataset) if _is_native(dataset) else _decode_compressed(dataset, name=name)
        pixels = _to_grey(pixels, dataset)
        decoded = decode_grayscale(dataset, pixels=pixels, facts=facts, name=name)
    # the codecs raise subclasses of RuntimeError
    except (*DAMAGED_HEADER_ERRORS, RuntimeError) as error:
        reason = f"can't be decoded ({describe_damage(error)})."
        raise UnreadableImage(name, reason, attribute=attribute_name("PixelData")) from error
    if pixels.shape != (facts.rows, facts.columns):
        decoded_size = " x ".join(str(length) for length in reversed(pixels.shape))
        reason = f"decodes to {decoded_size} pixels, but the header states {facts.columns} x {facts.rows}."
        raise UnreadableImage(name, reason, attribute=attribute_name("PixelData"))
    return decoded


def _parse_checked(content: bytes, *, name: str) -> Dataset:
    dataset = parse(content, name=name)
    try:
        check_modality(dataset, name=name)
        check_pixels(dataset, name=name)
    except DAMAGED_HEADER_ERRORS as error:  # an attribute has a type that the standard does not allow
        raise UnreadableImage(name, f"its DICOM header is damaged ({describe_damage(error)}).") from error
    return dataset


def _read_facts(dataset: Dataset, *, name: str, key: PseudonymKey | None = None) -> ImageFacts:
    header = read_stored_header(dataset, key=key)
    photometric = str(dataset.PhotometricInterpretation)
    return ImageFacts(
        media_type=DICOM,
        rows=read_integer(dataset, "Rows", name=name),
        columns=read_integer(dataset, "Columns", name=name),
        bits=read_integer(dataset, "BitsStored", name=name),
        photometric=photometric,
        view=header.view,
        patient=header.patient,
        age=header.age,
        sex=header.sex,
        notes=() if photometric.startswith("MONOCHROME") else (_COLOUR_NOTE,),
    )


def _is_native(dataset: Dataset) -> bool:
    return not UID(str(dataset.file_meta.TransferSyntaxUID)).is_encapsulated


def _decode_native(dataset: Dataset) -> NDArray[Any]:
    """Decode uncompressed pixels, stored by row in the byte order of the syntax (PS3.5 8.1.1, D)."""
    syntax = UID(str(dataset.file_meta.TransferSyntaxUID))
    rows, columns, samples = int(dataset.Rows), int(dataset.Columns), int(dataset.SamplesPerPixel)
    size = int(dataset.BitsAllocated) // 8
    dtype = np.dtype(f"{'<' if syntax.is_little_endian else '>'}u{size}")
    data: bytes = dataset.PixelData
    if dataset.PhotometricInterpretation == "YBR_FULL_422":
        # PS3.3 C.7.6.3.1.2: Y1 Y2 Cb Cr for every two pixels of a row; only the luminance Y is shown
        return np.frombuffer(data, np.uint8, rows * columns * 2).reshape(-1, 4)[:, :2].reshape(rows, columns)
    values = np.frombuffer(data, dtype, rows * columns * samples)
    if size == 2 and not syntax.is_little_endian and dataset["PixelData"].VR == "OB":
        values = values.view(values.dtype.newbyteorder())
    values = values.astype(dtype.newbyteorder("="), copy=False)
    if samples == 1:
        return _extract_stored_bits(values.reshape(rows, columns), dataset)
    if int(dataset.get("PlanarConfiguration") or 0) == 1:
        return np.moveaxis(values.reshape(samples, rows, columns), 0, -1)
    return values.reshape(rows, columns, samples)


def _decode_compressed(dataset: Dataset, *, name: str) -> NDArray[Any]:
    syntax = UID(str(dataset.file_meta.TransferSyntaxUID))
    shape = (int(dataset.Rows), int(dataset.Columns), int(dataset.SamplesPerPixel))
    pixels = codecs.decode(
        join_fragments(dataset),
        syntax=syntax,
        shape=shape,
        bits_allocated=read_integer(dataset, "BitsAllocated", name=name),
        is_ycbcr=str(dataset.PhotometricInterpretation).startswith("YBR"),
    )
    if pixels.ndim != 2 or int(dataset.PixelRepresentation) == 0:
        return pixels
    return _extract_stored_bits(pixels, dataset)


def _extract_stored_bits(values: NDArray[Any], dataset: Dataset) -> NDArray[Any]:
    """Extract the low ``BitsStored`` bits (PS3.5 8.1.1) with sign extension; higher bits are ignored."""
    stored, allocated = int(dataset.BitsStored), values.dtype.itemsize * 8
    signed = int(dataset.PixelRepresentation) == 1
    if values.dtype.kind == "i":
        return values  # a JPEG 2000 stream has already been decoded with its sign
    if stored >= allocated:
        return values.view(f"i{allocated // 8}") if signed else values
    if signed:
        shift = allocated - stored
        return (values << shift).view(f"i{allocated // 8}") >> shift
    return values & ((1 << stored) - 1)


def _to_grey(pixels: NDArray[Any], dataset: Dataset) -> NDArray[Any]:
    """Convert palette colours to RGB, and RGB to one luminance sample per pixel (ITU-R BT.601)."""
    photometric = str(dataset.PhotometricInterpretation)
    if photometric == "PALETTE COLOR":
        pixels = apply_color_lut(pixels, dataset)
        if pixels.dtype == np.uint16:
            pixels = (pixels >> 8).astype(np.uint8)
    if pixels.ndim == 2:
        return pixels
    syntax = UID(str(dataset.file_meta.TransferSyntaxUID))
    if photometric.startswith("YBR_FULL") and syntax in codecs.KEEPS_YCBCR:
        return np.ascontiguousarray(pixels[..., 0])
    luminance = pixels[..., :3].astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
    return np.rint(luminance).astype(np.uint8)
