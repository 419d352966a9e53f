"""PNG files for models: the right values, polarity and size, with every decoder."""

from __future__ import annotations

import io
import zlib

import imagecodecs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image
from pydicom.uid import ExplicitVRLittleEndian, JPEG2000Lossless, JPEGLosslessSV1, JPEGLSLossless, RLELossless

from imaging.png import encode_grey_png
from imaging.radiograph import Window
from imaging.reader import read_radiograph
from imaging.render import reduce_to_quarter, render_pngs
from tests.unit.makers.dicom_files import dicom, ramp

pytestmark = pytest.mark.slow

SHAPES = array_shapes(min_dims=2, max_dims=2, max_side=140)
LEVELS = st.one_of(arrays(np.uint8, SHAPES), arrays(np.uint16, SHAPES))


def levels_of(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)))


def rendered(content: bytes, **how) -> np.ndarray:
    return levels_of(render_pngs(read_radiograph(content, name="a file"), **how).full)


# ------------------------------------------------------------------------------------------- the files
@given(LEVELS)
def test_two_other_decoders_read_what_was_written(levels):
    png = encode_grey_png(levels)
    assert np.array_equal(levels_of(png), levels)
    assert np.array_equal(imagecodecs.png_decode(png), levels)


def test_every_chunk_has_its_check_sum():
    png = encode_grey_png(ramp())
    at = 8
    while at < len(png):
        length = int.from_bytes(png[at : at + 4])
        assert zlib.crc32(png[at + 4 : at + 8 + length]) == int.from_bytes(png[at + 8 + length :][:4])
        at += 12 + length


def test_pixels_that_are_not_square_say_so():
    image = Image.open(io.BytesIO(encode_grey_png(ramp(), aspect=(2, 1))))
    assert image.info["aspect"] == (2, 1)  # twice as many pixels across as down, over the same length


# ---------------------------------------------------------------------------------------------- levels
def test_16_bits_of_a_12_bit_file_spread_over_all_levels():
    levels = rendered(dicom(ramp()), bits=16)
    assert np.abs(levels - ramp() * (65535 / 4095)).max() < 0.51


def test_16_bits_of_a_16_bit_file_are_the_stored_values():
    pixels = ramp(256, 256, bits=16)
    assert np.array_equal(rendered(dicom(pixels, bits=16), bits=16), pixels)


def test_16_bits_tell_every_two_values_apart():
    pixels = np.arange(4096, dtype=np.uint16).reshape(64, 64)
    content = dicom(
        pixels, RescaleSlope=0.37, RescaleIntercept=-55.5, PhotometricInterpretation="MONOCHROME1"
    )
    assert len(np.unique(rendered(content, bits=16))) == 4096


def test_the_scale_of_16_bits_does_not_hang_on_what_is_in_the_image():
    one = rendered(dicom(np.array([[0, 1000]], np.uint16)), bits=16)
    other = rendered(dicom(np.array([[1000, 4095]], np.uint16)), bits=16)
    assert one[0, 1] == other[0, 0]


def test_signed_values_run_from_black_to_white():
    levels = rendered(dicom(ramp(signed=True)), bits=16)
    assert (levels[0, 0], levels[-1, -1]) == (0, 65535)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize(
    "attributes", [{"PhotometricInterpretation": "MONOCHROME1"}, {"PresentationLUTShape": "INVERSE"}]
)
def test_the_lowest_value_of_an_inverted_file_is_white(attributes, bits):
    levels = rendered(dicom(ramp(), **attributes), bits=bits)
    assert (levels[0, 0], levels[-1, -1]) == ((1 << bits) - 1, 0)


def test_8_bits_are_shown_as_the_first_window_has_it():
    levels = rendered(dicom(ramp(), WindowCenter=2048, WindowWidth=1001), bits=8)
    assert levels.max() == 255
    assert (levels == 0).mean() == pytest.approx((2048 - 500) / 4096, abs=0.01)


@pytest.mark.parametrize("bits", [8, 16])
def test_a_window_of_ones_own_takes_the_place_of_the_files(bits):
    window = Window(center=1000, width=100, function="LINEAR_EXACT")
    levels = rendered(dicom(ramp(), WindowCenter=2048, WindowWidth=4096), bits=bits, window=window)
    most = (1 << bits) - 1
    assert np.array_equal(levels == 0, ramp() <= 950 + 50 / most)
    assert np.array_equal(levels == most, ramp() >= 1050 - 50 / most)


def test_padding_is_black():
    content = dicom(ramp(), PixelPaddingValue=4095, PhotometricInterpretation="MONOCHROME2")
    assert rendered(content, bits=16)[-1, -1] == 0


@pytest.mark.parametrize("bits", [8, 16])
def test_every_lossless_syntax_gives_the_same_file(bits):
    syntaxes = [ExplicitVRLittleEndian, JPEGLosslessSV1, JPEGLSLossless, JPEG2000Lossless, RLELossless]
    files = {
        render_pngs(read_radiograph(dicom(syntax=syntax), name="x"), bits=bits, quarter=True).full
        for syntax in syntaxes
    }
    assert len(files) == 1


def test_other_depths_are_a_mistake_of_the_program():
    with pytest.raises(ValueError, match="12 bits"):
        render_pngs(read_radiograph(dicom(), name="x"), bits=12)


# --------------------------------------------------------------------------------------------- quarter
def test_a_quarter_is_the_mean_of_four_by_four():
    levels = np.arange(64, dtype=np.uint16).reshape(8, 8)
    # rows 0, 8, 16, 24 plus 0 to 3: 12 + 1.5 = 13.5, rounded half up
    assert reduce_to_quarter(levels).tolist() == [[14, 18], [46, 50]]


def test_at_the_edge_it_is_the_mean_of_what_is_left():
    levels = np.array([[10, 10, 10, 10, 3], [30, 30, 30, 30, 5]], np.uint16)
    assert reduce_to_quarter(levels).tolist() == [[20, 4]]


@given(arrays(np.uint8, SHAPES))
def test_8_and_16_bits_are_averaged_alike(levels):
    one, other = (
        reduce_to_quarter(levels).astype(int),
        reduce_to_quarter(levels.astype(np.uint16)).astype(int),
    )
    assert np.abs(one - other).max() <= 1  # Pillow may round a half down at the edge


@given(arrays(np.uint16, SHAPES))
def test_a_quarter_is_a_quarter_of_each_side_rounded_up(levels):
    rows, columns = levels.shape
    assert reduce_to_quarter(levels).shape == (-(-rows // 4), -(-columns // 4))


def test_no_quarter_is_made_unasked():
    assert render_pngs(read_radiograph(dicom(), name="x")).quarter is None
