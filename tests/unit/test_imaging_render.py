"""PNG files for models: the right values, polarity and size, for every DICOM transfer syntax."""

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


def read_levels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)))


def render_levels(content: bytes, **options) -> np.ndarray:
    return read_levels(render_pngs(read_radiograph(content, name="a file"), **options).full)


# ------------------------------------------------------------------------------------------- the files
@given(LEVELS)
def test_two_other_decoders_read_the_png_exactly(levels):
    png = encode_grey_png(levels)
    assert np.array_equal(read_levels(png), levels)
    assert np.array_equal(imagecodecs.png_decode(png), levels)


def test_every_chunk_has_a_valid_checksum():
    png = encode_grey_png(ramp())
    position = 8
    while position < len(png):
        length = int.from_bytes(png[position : position + 4])
        assert zlib.crc32(png[position + 4 : position + 8 + length]) == int.from_bytes(
            png[position + 8 + length :][:4]
        )
        position += 12 + length


def test_a_pixel_aspect_is_written_to_the_png():
    image = Image.open(io.BytesIO(encode_grey_png(ramp(), aspect=(2, 1))))
    assert image.info["aspect"] == (2, 1)  # a pixel is half as wide as it is high


# ---------------------------------------------------------------------------------------------- levels
def test_a_16_bit_png_of_a_12_bit_file_uses_all_levels():
    levels = render_levels(dicom(ramp()), bits=16)
    assert np.abs(levels - ramp() * (65535 / 4095)).max() < 0.51


def test_a_16_bit_png_of_a_16_bit_file_has_the_stored_values():
    pixels = ramp(256, 256, bits=16)
    assert np.array_equal(render_levels(dicom(pixels, bits=16), bits=16), pixels)


def test_16_bits_keep_all_values_distinct():
    pixels = np.arange(4096, dtype=np.uint16).reshape(64, 64)
    content = dicom(
        pixels, RescaleSlope=0.37, RescaleIntercept=-55.5, PhotometricInterpretation="MONOCHROME1"
    )
    assert len(np.unique(render_levels(content, bits=16))) == 4096


def test_the_16_bit_scale_does_not_depend_on_the_image():
    dark_image = render_levels(dicom(np.array([[0, 1000]], np.uint16)), bits=16)
    bright_image = render_levels(dicom(np.array([[1000, 4095]], np.uint16)), bits=16)
    assert dark_image[0, 1] == bright_image[0, 0]


def test_signed_values_run_from_black_to_white():
    levels = render_levels(dicom(ramp(signed=True)), bits=16)
    assert (levels[0, 0], levels[-1, -1]) == (0, 65535)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize(
    "attributes", [{"PhotometricInterpretation": "MONOCHROME1"}, {"PresentationLUTShape": "INVERSE"}]
)
def test_the_lowest_value_of_an_inverted_file_is_white(attributes, bits):
    levels = render_levels(dicom(ramp(), **attributes), bits=bits)
    assert (levels[0, 0], levels[-1, -1]) == ((1 << bits) - 1, 0)


def test_an_8_bit_png_uses_the_window_of_the_file():
    levels = render_levels(dicom(ramp(), WindowCenter=2048, WindowWidth=1001), bits=8)
    assert levels.max() == 255
    assert (levels == 0).mean() == pytest.approx((2048 - 500) / 4096, abs=0.01)


@pytest.mark.parametrize("bits", [8, 16])
def test_a_given_window_replaces_the_one_in_the_file(bits):
    window = Window(center=1000, width=100, function="LINEAR_EXACT")
    levels = render_levels(dicom(ramp(), WindowCenter=2048, WindowWidth=4096), bits=bits, window=window)
    max_level = (1 << bits) - 1
    assert np.array_equal(levels == 0, ramp() <= 950 + 50 / max_level)
    assert np.array_equal(levels == max_level, ramp() >= 1050 - 50 / max_level)


def test_padding_is_black():
    content = dicom(ramp(), PixelPaddingValue=4095, PhotometricInterpretation="MONOCHROME2")
    assert render_levels(content, bits=16)[-1, -1] == 0


@pytest.mark.parametrize("bits", [8, 16])
def test_every_lossless_syntax_gives_the_same_file(bits):
    syntaxes = [ExplicitVRLittleEndian, JPEGLosslessSV1, JPEGLSLossless, JPEG2000Lossless, RLELossless]
    files = {
        render_pngs(read_radiograph(dicom(syntax=syntax), name="x"), bits=bits, quarter=True).full
        for syntax in syntaxes
    }
    assert len(files) == 1


def test_a_bit_depth_other_than_8_or_16_raises_an_error():
    with pytest.raises(ValueError, match="must be 8 or 16, not 12"):
        render_pngs(read_radiograph(dicom(), name="x"), bits=12)


# --------------------------------------------------------------------------------------------- quarter
def test_each_pixel_of_the_quarter_is_the_mean_of_4_by_4_pixels():
    levels = np.arange(64, dtype=np.uint16).reshape(8, 8)
    # first 4 x 4 pixels: rows begin with 0, 8, 16, 24 (mean 12); columns add 0 to 3 (mean 1.5); rounded up
    assert reduce_to_quarter(levels).tolist() == [[14, 18], [46, 50]]


def test_pixels_of_the_quarter_at_the_edge_are_the_mean_of_the_remaining_pixels():
    levels = np.array([[10, 10, 10, 10, 3], [30, 30, 30, 30, 5]], np.uint16)
    assert reduce_to_quarter(levels).tolist() == [[20, 4]]


@given(arrays(np.uint8, SHAPES))
def test_8_and_16_bits_are_averaged_alike(levels):
    from_8_bits, from_16_bits = (
        reduce_to_quarter(levels).astype(int),
        reduce_to_quarter(levels.astype(np.uint16)).astype(int),
    )
    assert np.abs(from_8_bits - from_16_bits).max() <= 1  # Pillow may round a half down at the edge


@given(arrays(np.uint16, SHAPES))
def test_the_quarter_has_a_quarter_of_each_side_rounded_up(levels):
    rows, columns = levels.shape
    assert reduce_to_quarter(levels).shape == (-(-rows // 4), -(-columns // 4))


def test_a_quarter_is_made_only_on_request():
    assert render_pngs(read_radiograph(dicom(), name="x")).quarter is None
