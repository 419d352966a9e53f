"""What is displayed: polarity, modality and VOI transforms, padding, aspect, size."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pydicom import Dataset, dcmread
from pydicom.pixels.processing import apply_modality_lut, apply_voi_lut
from pydicom.uid import ExplicitVRBigEndian, ImplicitVRLittleEndian

from imaging.display import (
    build_grey_table,
    choose_first_window,
    compute_automatic_window,
    display_size,
    render_display_jpeg,
)
from imaging.errors import UnreadableImage
from imaging.radiograph import AS_STORED, VoiTable, Window
from imaging.reader import read_radiograph
from tests.unit.makers.dicom_files import dicom, ramp
from tests.unit.makers.raster_files import png


def decode(pixels=None, **attributes):
    return read_radiograph(dicom(pixels, **attributes), name="a.dcm")


def render_levels(radiograph, window=None):
    """The grey level of each pixel, before JPEG compression."""
    table = build_grey_table(radiograph, window=window or choose_first_window(radiograph))
    return table[radiograph.pixels.view(np.uint16) if radiograph.lowest else radiograph.pixels]


def make_lookup_table(values, *, first_mapped_value=0, bits=16, dtype="<u2", name=None):
    item = Dataset()
    item.LUTDescriptor = [len(values) % 65536, first_mapped_value, bits]
    item.LUTData = np.asarray(values, dtype).tobytes()
    item["LUTData"].VR = "OW"
    if name:
        item.LUTExplanation = name
    return item


# ---------------------------------------------------------------------------------------- polarity
FULL_WINDOW: dict[str, Any] = {"WindowCenter": 2048, "WindowWidth": 4096}


def test_the_lowest_value_of_monochrome2_is_black():
    displayed = render_levels(decode(**FULL_WINDOW))
    assert (displayed[0, 0], displayed[-1, -1]) == (0, 255)


def test_the_lowest_value_of_monochrome1_is_white():
    displayed = render_levels(decode(PhotometricInterpretation="MONOCHROME1", **FULL_WINDOW))
    assert (displayed[0, 0], displayed[-1, -1]) == (255, 0)


def test_an_inverse_presentation_lut_shows_the_lowest_value_white():
    displayed = render_levels(decode(PresentationLUTShape="INVERSE", **FULL_WINDOW))
    assert (displayed[0, 0], displayed[-1, -1]) == (255, 0)


def test_monochrome1_with_an_inverse_lut_is_inverted_once():
    inverse_monochrome1 = decode(
        PhotometricInterpretation="MONOCHROME1", PresentationLUTShape="INVERSE", **FULL_WINDOW
    )
    displayed = render_levels(inverse_monochrome1)
    assert (displayed[0, 0], displayed[-1, -1]) == (255, 0)


# ---------------------------------------------------------------------------------------- modality
def test_windows_apply_to_rescaled_values():
    # stored 0..4095 becomes -1000..3095; a window of width 1 at 0 separates black and white at 1000
    radiograph = decode(RescaleSlope="1", RescaleIntercept="-1000", WindowCenter="0", WindowWidth="1")
    table = build_grey_table(radiograph, window=radiograph.windows[0])
    assert table[990] == 0
    assert table[1010] == 255


def test_the_rescale_slope_is_applied():
    radiograph = decode(RescaleSlope="0.5", RescaleIntercept="10")
    assert radiograph.modality_lut[100] == 60


@pytest.mark.parametrize("syntax", [None, ImplicitVRLittleEndian, ExplicitVRBigEndian])
def test_a_modality_lut_replaces_the_rescale(syntax):
    table = np.arange(4096)[::-1]
    item = make_lookup_table(table, dtype=">u2" if syntax == ExplicitVRBigEndian else "<u2")
    item.ModalityLUTType = "US"
    extra = {} if syntax is None else {"syntax": syntax}
    radiograph = decode(ModalityLUTSequence=[item], RescaleSlope="1", RescaleIntercept="5000", **extra)
    assert np.array_equal(radiograph.modality_lut[:4096], table)


# --------------------------------------------------------------------------------------------- VOI
WINDOWS = [
    {"WindowCenter": "1000", "WindowWidth": "500"},
    {"WindowCenter": "2000", "WindowWidth": "1"},
    {"WindowCenter": "1000", "WindowWidth": "500", "VOILUTFunction": "LINEAR_EXACT"},
    {"WindowCenter": "1500", "WindowWidth": "800", "VOILUTFunction": "SIGMOID"},
    {"WindowCenter": "300", "WindowWidth": "700", "RescaleSlope": "2", "RescaleIntercept": "-1024"},
]


@pytest.mark.parametrize("attributes", WINDOWS)
@pytest.mark.parametrize("signed", [False, True])
def test_a_window_is_applied_as_pydicom_applies_it(attributes, signed):
    content = dicom(ramp(bits=12, signed=signed), **attributes)
    radiograph = read_radiograph(content, name="a.dcm")
    dataset = dcmread(io.BytesIO(content))
    modality = apply_modality_lut(dataset.pixel_array, dataset)
    displayed = apply_voi_lut(modality, dataset)
    low, high = ((-2048, 2047) if signed else (0, 4095)) if "RescaleSlope" not in attributes else (
        (-2048 * 2 - 1024, 2047 * 2 - 1024) if signed else (-1024, 4095 * 2 - 1024)
    )  # fmt: skip
    expected = (displayed - low) / (high - low) * 255
    assert np.abs(render_levels(radiograph, radiograph.windows[0]) - expected).max() <= 0.51


def test_several_windows_keep_their_names_and_order():
    radiograph = decode(
        WindowCenter=["100", "200"], WindowWidth=["10", "20"], WindowCenterWidthExplanation=["LUNG", "BONE"]
    )
    assert radiograph.windows == (
        Window(center=100, width=10, name="LUNG"),
        Window(center=200, width=20, name="BONE"),
    )


def test_an_invalid_window_is_ignored():
    assert decode(WindowCenter="100", WindowWidth="0").windows == ()


def test_a_voi_lut_is_applied_as_pydicom_applies_it():
    curve = (np.linspace(0, 1, 4096) ** 2 * 4095).astype(int)
    content = dicom(VOILUTSequence=[make_lookup_table(curve, bits=12, name="SOFT")], **FULL_WINDOW)
    radiograph = read_radiograph(content, name="a.dcm")
    dataset = dcmread(io.BytesIO(content))
    expected = apply_voi_lut(dataset.pixel_array, dataset, prefer_lut=True) / 4095 * 255
    assert radiograph.tables[0].name == "SOFT"
    assert np.abs(render_levels(radiograph, radiograph.tables[0]) - expected).max() <= 0.51


def test_a_voi_lut_takes_precedence_over_a_window():
    radiograph = decode(VOILUTSequence=[make_lookup_table(np.arange(4096), bits=12)], **FULL_WINDOW)
    assert isinstance(choose_first_window(radiograph), VoiTable)


def test_values_outside_a_voi_lut_take_its_end_values():
    radiograph = decode(VOILUTSequence=[make_lookup_table(np.arange(100), first_mapped_value=1000, bits=8)])
    grey_table = build_grey_table(radiograph, window=radiograph.tables[0])
    assert (grey_table[0], grey_table[1000], grey_table[1050], grey_table[4095]) == (0, 0, 50, 99)


def test_a_voi_lut_of_bytes_is_read():
    item = make_lookup_table(np.arange(200), bits=8)
    item.LUTData = bytes(range(200))
    radiograph = decode(VOILUTSequence=[item])
    assert build_grey_table(radiograph, window=radiograph.tables[0])[150] == 150


def test_a_16_bit_voi_lut_may_have_65536_entries():
    full_range = decode(ramp(bits=16), bits=16, VOILUTSequence=[make_lookup_table(np.arange(65536)[::-1])])
    grey_table = build_grey_table(full_range, window=full_range.tables[0])
    assert (grey_table[0], grey_table[65535]) == (255, 0)


def test_the_first_mapped_value_of_a_signed_image_is_signed():
    item = make_lookup_table(np.arange(4096), first_mapped_value=-2048, bits=12)
    item["LUTDescriptor"].VR = "SS"
    signed = decode(ramp(bits=12, signed=True), VOILUTSequence=[item])
    displayed = render_levels(signed, signed.tables[0])
    assert (displayed[0, 0], displayed[-1, -1]) == (0, 255)


def test_a_voi_lut_that_is_too_short_is_refused():
    item = make_lookup_table(np.arange(100))
    item.LUTDescriptor = [4096, 0, 16]
    with pytest.raises(UnreadableImage, match=r"VOILUTSequence \(0028,3010\): is damaged"):
        decode(VOILUTSequence=[item])


# --------------------------------------------------------------------------------- the first window
def test_the_automatic_window_uses_the_pixel_percentiles():
    # 10,000 values from 0 to 4095: the 0.5th percentile is 20.5, the 99.5th 4074.5
    window = compute_automatic_window(decode(ramp(100, 100)))
    assert window.center - window.width / 2 == pytest.approx(20.5, abs=1)
    assert window.center + window.width / 2 == pytest.approx(4074.5, abs=1)


def test_a_stored_window_outside_the_pixel_range_is_ignored():
    # as in a real fluorograph: values from 32,744 up, and a window with centre 2725 and width 5310
    bright = (ramp(bits=14) + 32_744).astype(np.uint16)
    radiograph = decode(bright, bits=16, WindowCenter="2725", WindowWidth="5310")
    assert choose_first_window(radiograph).name == "Automatic"
    assert render_levels(radiograph).std() > 50


def test_a_usable_stored_window_is_used():
    window = choose_first_window(decode(WindowCenter="2000", WindowWidth="1000"))
    assert isinstance(window, Window)
    assert window.center == 2000


def test_eight_bits_without_a_window_are_shown_as_stored():
    assert choose_first_window(decode(ramp(bits=8), bits=8)) == AS_STORED
    assert choose_first_window(read_radiograph(png(ramp(bits=8)), name="a.png")) == AS_STORED


def test_eight_bits_of_low_contrast_get_an_automatic_window():
    low_contrast = (ramp(bits=8) // 3 + 60).astype(np.uint8)
    assert choose_first_window(read_radiograph(png(low_contrast), name="a.png")).name == "Automatic"


def test_12_bits_in_a_16_bit_png_are_not_shown_black():
    assert render_levels(read_radiograph(png(ramp(bits=12)), name="a.png")).max() == 255


def test_an_image_of_one_value_is_rendered():
    assert len(render_display_jpeg(decode(np.full((8, 8), 7, np.uint16)))) > 100


# ----------------------------------------------------------------------------------------- padding
def test_padding_is_black_and_not_in_the_automatic_window():
    padded = (ramp(bits=11) + 1000).astype(np.uint16)
    padded[:12] = 4095
    radiograph = decode(padded, PixelPaddingValue=4095)
    displayed = render_levels(radiograph)
    assert np.all(displayed[:12] == 0)
    window = choose_first_window(radiograph)
    assert isinstance(window, Window)
    assert window.center + window.width / 2 <= 3048


def test_padding_is_black_in_monochrome1_too():
    padded = ramp(bits=12)
    padded[:2] = 0
    displayed = render_levels(
        decode(padded, PhotometricInterpretation="MONOCHROME1", PixelPaddingValue=0, **FULL_WINDOW)
    )
    assert np.all(displayed[:2] == 0)
    assert displayed[2, 0] > 200


@pytest.mark.parametrize(("value", "limit"), [(0, 99), (99, 0)])
def test_a_padding_range_includes_both_ends_in_either_order(value, limit):
    radiograph = decode(PixelPaddingValue=value, PixelPaddingRangeLimit=limit, **FULL_WINDOW)
    table = build_grey_table(radiograph, window=Window(center=100, width=10))
    assert radiograph.padding == (0, 99)
    assert np.all(table[:100] == 0)
    assert table[110] == 255


def test_padding_of_signed_pixels_is_signed():
    pixels = ramp(bits=12, signed=True)
    radiograph = decode(pixels, PixelPaddingValue=-2048, WindowCenter="-3000", WindowWidth="10")
    assert radiograph.padding == (-2048, -2048)
    displayed = render_levels(radiograph, radiograph.windows[0])
    assert displayed[0, 0] == 0
    assert displayed[-1, -1] == 255


# ------------------------------------------------------------------------------------ aspect, size
def read_size(picture: bytes) -> tuple[int, int]:
    return Image.open(io.BytesIO(picture)).size


def test_tall_pixels_double_the_picture_height():
    assert read_size(render_display_jpeg(decode(PixelAspectRatio=["2", "1"]))) == (32, 48)


def test_wide_pixels_double_the_picture_width():
    assert read_size(render_display_jpeg(decode(PixelAspectRatio=["1", "2"]))) == (64, 24)


def test_pixel_spacing_gives_the_aspect_if_nothing_else_does():
    assert read_size(render_display_jpeg(decode(PixelSpacing=["0.2", "0.1"]))) == (32, 48)


@pytest.mark.parametrize("spacing", [["0.000", "0.000"], ["1.2", "1.201199999999"], ["0.15", "0.15"]])
def test_zero_or_nearly_square_spacing_keeps_the_picture_size(spacing):
    assert read_size(render_display_jpeg(decode(PixelSpacing=spacing))) == (32, 24)


def test_the_longer_side_is_limited():
    assert read_size(render_display_jpeg(decode(ramp(300, 400)), longest_side=200)) == (200, 150)


def test_a_picture_is_never_enlarged():
    assert display_size(decode(ramp(300, 400)), longest_side=2000) == (400, 300)


def test_the_picture_is_a_grey_jpeg():
    picture = Image.open(io.BytesIO(render_display_jpeg(decode())))
    assert (picture.format, picture.mode) == ("JPEG", "L")
