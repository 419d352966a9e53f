"""Every transfer syntax gives the same pixels, and other decoders agree."""

from __future__ import annotations

import io

import imagecodecs
import numpy as np
import pytest
from pydicom import dcmread
from pydicom.encaps import encapsulate
from pydicom.pixels.decoders.base import get_decoder
from pydicom.uid import (
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    HTJ2KLossless,
    ImplicitVRLittleEndian,
    JPEG2000Lossless,
    JPEGBaseline8Bit,
    JPEGExtended12Bit,
    JPEGLosslessSV1,
    JPEGLSLossless,
    JPEGLSNearLossless,
    RLELossless,
)

from imaging.errors import UnreadableImage
from imaging.reader import read_radiograph
from tests.unit.makers.dicom_files import dicom, encode_codestream, ramp

LOSSLESS = [
    ImplicitVRLittleEndian,
    ExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    DeflatedExplicitVRLittleEndian,
    RLELossless,
    JPEGLosslessSV1,
    JPEGLSLossless,
    JPEG2000Lossless,
    HTJ2KLossless,
]
# syntax, and a decoder of pydicom's that is independent of ours
REFERENCE_DECODERS = [
    (RLELossless, "pydicom"),
    (JPEGLosslessSV1, "gdcm"),
    (JPEGLSLossless, "pyjpegls"),
    (JPEG2000Lossless, "gdcm"),
    (HTJ2KLossless, "pylibjpeg"),
    (JPEGBaseline8Bit, "pillow"),
]


def make_noisy_ramp(*, bits: int, signed: bool = False) -> np.ndarray:
    """A ramp with noise, which has neither runs nor flat areas."""
    smooth = ramp(61, 47, bits=bits, signed=signed).astype(np.int32)
    noise = np.random.default_rng(bits).integers(-9, 10, smooth.shape)
    return np.clip(smooth + noise, smooth.min(), smooth.max()).astype(ramp(bits=bits, signed=signed).dtype)


@pytest.mark.parametrize("bits", [8, 10, 12, 15, 16])
@pytest.mark.parametrize("syntax", LOSSLESS, ids=lambda syntax: syntax.name)
def test_lossless_pixels_are_decoded_exactly(syntax, bits):
    stored = make_noisy_ramp(bits=bits)
    decoded = read_radiograph(dicom(stored, syntax=syntax, bits=bits), name="a.dcm")
    assert decoded.pixels.dtype == stored.dtype
    assert np.array_equal(decoded.pixels, stored)


@pytest.mark.parametrize(
    "syntax", [syntax for syntax in LOSSLESS if syntax != JPEGLosslessSV1], ids=lambda syntax: syntax.name
)
def test_negative_values_are_decoded_exactly(syntax):
    stored = make_noisy_ramp(bits=12, signed=True)
    decoded = read_radiograph(dicom(stored, syntax=syntax, bits=12), name="a.dcm")
    assert decoded.lowest == -32768
    assert np.array_equal(decoded.pixels, stored)


@pytest.mark.parametrize(
    ("syntax", "plugin"), REFERENCE_DECODERS, ids=lambda value: str(getattr(value, "name", value))
)
def test_pixels_equal_those_of_another_decoder(syntax, plugin):
    bits = 8 if syntax == JPEGBaseline8Bit else 12
    content = dicom(make_noisy_ramp(bits=bits), syntax=syntax, bits=bits)
    reference, _ = get_decoder(syntax).as_array(
        dcmread(io.BytesIO(content)), raw=True, decoding_plugin=plugin
    )
    assert np.array_equal(read_radiograph(content, name="a.dcm").pixels, reference)


def test_extended_jpeg_of_12_bits_is_decoded():
    # a format of plates of the 1990s; no pydicom plug-in whose licence permits our use reads it
    stored = ramp(64, 64, bits=12)
    frame = bytes(imagecodecs.jpeg8_encode(stored, level=98, bitspersample=12))
    content = dicom(stored, syntax=JPEGExtended12Bit, pixel_data=encapsulate([frame]))
    difference = read_radiograph(content, name="a.dcm").pixels.astype(int) - stored
    assert np.abs(difference).max() < 40  # of 4095: the format is lossy


def test_near_lossless_jpeg_ls_stays_within_its_error_limit():
    stored = make_noisy_ramp(bits=12)
    frame = bytes(imagecodecs.jpegls_encode(stored, level=3))
    content = dicom(stored, syntax=JPEGLSNearLossless, pixel_data=encapsulate([frame]))
    assert np.abs(read_radiograph(content, name="a.dcm").pixels.astype(int) - stored).max() <= 3


def test_colour_in_rle_is_decoded():
    grey = np.random.default_rng(1).integers(0, 256, (9, 7), np.uint8)
    colour = np.stack([grey] * 3, axis=-1)
    content = dicom(colour, bits=8, syntax=RLELossless)
    assert np.array_equal(read_radiograph(content, name="a.dcm").pixels, grey)


@pytest.mark.parametrize("offset", [0, 63, 1 << 27])
def test_an_rle_segment_outside_its_frame_is_refused(offset):
    frame = bytearray(encode_codestream(make_noisy_ramp(bits=12), RLELossless))
    frame[8:12] = offset.to_bytes(4, "little")
    content = dicom(make_noisy_ramp(bits=12), syntax=RLELossless, pixel_data=encapsulate([bytes(frame)]))
    with pytest.raises(UnreadableImage, match="RLE segment"):
        read_radiograph(content, name="a.dcm")
