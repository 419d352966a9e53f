"""The stored values as sent to the browser: exact, equal for all lossless syntaxes, and small."""

from __future__ import annotations

import gzip

import imagecodecs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from pydicom.uid import (
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    HTJ2KLossless,
    ImplicitVRLittleEndian,
    JPEG2000Lossless,
    JPEGLosslessSV1,
    JPEGLSLossless,
    RLELossless,
)

from imaging.matrix import SIGNED_OFFSET, encode_matrix, encoded_bits
from imaging.radiograph import PNG, DecodedRadiograph, ImageFacts
from imaging.reader import read_radiograph
from tests.unit.makers.dicom_files import dicom, ramp
from tests.unit.makers.matrix_decoder import decode_matrix

LOSSLESS = [
    ExplicitVRLittleEndian, ImplicitVRLittleEndian, ExplicitVRBigEndian, DeflatedExplicitVRLittleEndian,
    JPEGLosslessSV1, JPEGLSLossless, JPEG2000Lossless, HTJ2KLossless, RLELossless,
]  # fmt: skip
SHAPES = array_shapes(min_dims=2, max_dims=2, max_side=150)


def make_radiograph(pixels: np.ndarray, *, bits: int) -> DecodedRadiograph:
    facts = ImageFacts(
        media_type=PNG, rows=pixels.shape[0], columns=pixels.shape[1], bits=bits, photometric="MONOCHROME2"
    )
    return DecodedRadiograph(facts=facts, pixels=pixels, modality_lut=np.zeros(65536, np.float32))


def encode_and_decode(pixels: np.ndarray, *, bits: int) -> np.ndarray:
    source = make_radiograph(pixels, bits=bits)
    rows, columns = pixels.shape
    return decode_matrix(encode_matrix(source), rows=rows, columns=columns, bits=encoded_bits(source))


def test_two_planes_have_the_bytes_computed_by_hand():
    # 5 is 5 more than 0 -> 10; 3 is 2 less -> 2 * 2 - 1 = 3; 300 is 297 more -> 594 = 2 * 256 + 82
    # each row begins at 0 again
    pixels = np.array([[5, 3, 300], [1, 1, 0]], np.uint16)
    assert list(gzip.decompress(encode_matrix(make_radiograph(pixels, bits=12)))) == [
        10, 3, 82, 2, 0, 1,
        0, 0, 2, 0, 0, 0,
    ]  # fmt: skip


def test_one_plane_has_the_bytes_computed_by_hand():
    pixels = np.array([[5, 3, 255], [1, 1, 0]], np.uint8)
    assert list(gzip.decompress(encode_matrix(make_radiograph(pixels, bits=8)))) == [5, 254, 252, 1, 0, 255]


@given(arrays(np.uint16, SHAPES))
@pytest.mark.slow
def test_16_bits_are_decoded_exactly(pixels):
    assert np.array_equal(encode_and_decode(pixels, bits=16), pixels)


@given(arrays(np.uint8, SHAPES))
def test_8_bits_are_decoded_exactly(pixels):
    assert np.array_equal(encode_and_decode(pixels, bits=8), pixels)


@given(arrays(np.int16, SHAPES), st.integers(6, 16))
@pytest.mark.slow
def test_signed_values_are_decoded_with_their_offset(pixels, bits):
    assert np.array_equal(encode_and_decode(pixels, bits=bits), pixels.astype(np.int32) + SIGNED_OFFSET)


@pytest.mark.parametrize("rows", [63, 64, 65, 128])
def test_any_number_of_rows_is_decoded_exactly(rows):
    pixels = np.random.default_rng(1).integers(0, 4096, (rows, 7)).astype(np.uint16)
    assert np.array_equal(encode_and_decode(pixels, bits=12), pixels)


def test_8_bit_values_in_16_bit_words_are_one_plane():
    pixels = np.array([[0, 255]], np.uint16)
    assert gzip.decompress(encode_matrix(make_radiograph(pixels, bits=8))) == bytes([0, 255])


def test_a_value_beyond_the_stated_bits_is_not_lost():
    pixels = np.array([[0, 256]], np.uint16)
    assert encoded_bits(make_radiograph(pixels, bits=8)) == 9
    assert np.array_equal(encode_and_decode(pixels, bits=8), pixels)


@pytest.mark.parametrize("syntax", LOSSLESS, ids=lambda syntax: syntax.name)
def test_every_lossless_syntax_is_encoded_to_the_same_bytes(syntax):
    pixels = np.random.default_rng(2).integers(0, 4096, (40, 50)).astype(np.uint16)
    raw = encode_matrix(read_radiograph(dicom(pixels), name="raw"))
    assert encode_matrix(read_radiograph(dicom(pixels, syntax=syntax), name="compressed")) == raw


def test_a_png_of_the_same_values_gives_the_same_bytes():
    pixels = ramp(40, 50)
    from_png = encode_matrix(read_radiograph(bytes(imagecodecs.png_encode(pixels)), name="a.png"))
    assert from_png == encode_matrix(read_radiograph(dicom(pixels), name="a.dcm"))


def test_encoding_does_not_depend_on_the_time(monkeypatch):
    pixels = ramp()
    before = encode_matrix(make_radiograph(pixels, bits=12))
    monkeypatch.setattr("time.time", lambda: 1.0)
    assert encode_matrix(make_radiograph(pixels, bits=12)) == before


def test_decoding_with_other_dimensions_is_refused():
    with pytest.raises(ValueError, match="reshape"):
        decode_matrix(encode_matrix(make_radiograph(ramp(), bits=12)), rows=9, columns=9, bits=12)
