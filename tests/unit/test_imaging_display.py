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


def decoded(pixels=None, **attributes):
    return read_radiograph(dicom(pixels, **attributes), name="a.dcm")


def levels(radiograph, window=None):
    """The grey level of each pixel, before JPEG compression."""
    table = build_grey_table(radiograph, window=window or choose_first_window(radiograph))
    return table[radiograph.pixels.view(np.uint16) if radiograph.lowest else radiograph.pixels]


def lookup(values, *, first=0, bits=16, dtype="<u2", name=None):
    item = Dataset()
    item.LUTDescriptor = [len(values) % 65536, first, bits]
    item.LUTData = np.asarray(values, dtype).tobytes()
    item["LUTData"].VR = "OW"
    if name:
        item.LUTExplanation = name
    return item


# ---------------------------------------------------------------------------------------- polarity
FULL: dict[str, Any] = {"WindowCenter": 2048, "WindowWidth": 4096}


def test_the_lowest_value_of_monochrome2_is_black():
    shown = levels(decoded(**FULL))
    assert (shown[0, 0], shown[-1, -1]) == (0, 255)


def test_the_lowest_value_of_monochrome1_is_white():
    shown = levels(decoded(PhotometricInterpretation="MONOCHROME1", **FULL))
    assert (shown[0, 0], shown[-1, -1]) == (255, 0)


def test_a_presentation_lut_shape_of_inverse_is_white_for_the_lowest_value():
    shown = levels(decoded(PresentationLUTShape="INVERSE", **FULL))
    assert (shown[0, 0], shown[-1, -1]) == (255, 0)


def test_monochrome1_with_inverse_is_one_inversion():
    both = decoded(PhotometricInterpretation="MONOCHROME1", PresentationLUTShape="INVERSE", **FULL)
    shown = levels(both)
    assert (shown[0, 0], shown[-1, -1]) == (255, 0)


# ---------------------------------------------------------------------------------------- modality
def test_windows_are_in_values_after_the_rescale():
    # stored 0..4095 becomes -1000..3095; a window of 1 about 0 divides at stored 1000
    radiograph = decoded(RescaleSlope="1", RescaleIntercept="-1000", WindowCenter="0", WindowWidth="1")
    table = build_grey_table(radiograph, window=radiograph.windows[0])
    assert table[990] == 0
    assert table[1010] == 255


def test_a_slope_is_applied():
    radiograph = decoded(RescaleSlope="0.5", RescaleIntercept="10")
    assert radiograph.modality[100] == 60


@pytest.mark.parametrize("syntax", [None, ImplicitVRLittleEndian, ExplicitVRBigEndian])
def test_a_modality_table_is_applied_and_the_rescale_beside_it_is_not(syntax):
    table = np.arange(4096)[::-1]
    item = lookup(table, dtype=">u2" if syntax == ExplicitVRBigEndian else "<u2")
    item.ModalityLUTType = "US"
    extra = {} if syntax is None else {"syntax": syntax}
    radiograph = decoded(ModalityLUTSequence=[item], RescaleSlope="1", RescaleIntercept="5000", **extra)
    assert np.array_equal(radiograph.modality[:4096], table)


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
def test_a_window_shows_what_pydicom_shows(attributes, signed):
    content = dicom(ramp(bits=12, signed=signed), **attributes)
    radiograph = read_radiograph(content, name="a.dcm")
    dataset = dcmread(io.BytesIO(content))
    modality = apply_modality_lut(dataset.pixel_array, dataset)
    shown = apply_voi_lut(modality, dataset)
    low, high = ((-2048, 2047) if signed else (0, 4095)) if "RescaleSlope" not in attributes else (
        (-2048 * 2 - 1024, 2047 * 2 - 1024) if signed else (-1024, 4095 * 2 - 1024)
    )  # fmt: skip
    expected = (shown - low) / (high - low) * 255
    assert np.abs(levels(radiograph, radiograph.windows[0]) - expected).max() <= 0.51


def test_several_windows_keep_their_names_and_order():
    radiograph = decoded(
        WindowCenter=["100", "200"], WindowWidth=["10", "20"], WindowCenterWidthExplanation=["LUNG", "BONE"]
    )
    assert radiograph.windows == (
        Window(center=100, width=10, name="LUNG"),
        Window(center=200, width=20, name="BONE"),
    )


def test_a_window_that_cannot_be_is_left_out():
    assert decoded(WindowCenter="100", WindowWidth="0").windows == ()


def test_a_voi_table_shows_what_pydicom_shows():
    curve = (np.linspace(0, 1, 4096) ** 2 * 4095).astype(int)
    content = dicom(VOILUTSequence=[lookup(curve, bits=12, name="SOFT")], **FULL)
    radiograph = read_radiograph(content, name="a.dcm")
    dataset = dcmread(io.BytesIO(content))
    expected = apply_voi_lut(dataset.pixel_array, dataset, prefer_lut=True) / 4095 * 255
    assert radiograph.tables[0].name == "SOFT"
    assert np.abs(levels(radiograph, radiograph.tables[0]) - expected).max() <= 0.51


def test_a_table_comes_before_a_window():
    radiograph = decoded(VOILUTSequence=[lookup(np.arange(4096), bits=12)], **FULL)
    assert isinstance(choose_first_window(radiograph), VoiTable)


def test_values_off_a_voi_table_take_its_ends():
    radiograph = decoded(VOILUTSequence=[lookup(np.arange(100), first=1000, bits=8)])
    shown = build_grey_table(radiograph, window=radiograph.tables[0])
    assert (shown[0], shown[1000], shown[1050], shown[4095]) == (0, 0, 50, 99)


def test_a_table_of_bytes_is_read():
    item = lookup(np.arange(200), bits=8)
    item.LUTData = bytes(range(200))
    radiograph = decoded(VOILUTSequence=[item])
    assert build_grey_table(radiograph, window=radiograph.tables[0])[150] == 150


def test_a_table_of_16_bits_entries_may_be_full():
    full = decoded(ramp(bits=16), bits=16, VOILUTSequence=[lookup(np.arange(65536)[::-1])])
    shown = build_grey_table(full, window=full.tables[0])
    assert (shown[0], shown[65535]) == (255, 0)


def test_the_first_value_of_a_signed_table_is_signed():
    item = lookup(np.arange(4096), first=-2048, bits=12)
    item["LUTDescriptor"].VR = "SS"
    signed = decoded(ramp(bits=12, signed=True), VOILUTSequence=[item])
    shown = levels(signed, signed.tables[0])
    assert (shown[0, 0], shown[-1, -1]) == (0, 255)


def test_a_table_that_is_too_short_is_refused():
    item = lookup(np.arange(100))
    item.LUTDescriptor = [4096, 0, 16]
    with pytest.raises(UnreadableImage, match=r"VOILUTSequence \(0028,3010\): is damaged"):
        decoded(VOILUTSequence=[item])


# --------------------------------------------------------------------------------- the first window
def test_without_a_window_the_percentiles_of_the_pixels_are_taken():
    # 10,000 values from 0 to 4095: the 0.5th percentile is 20.5, the 99.5th 4074.5
    window = compute_automatic_window(decoded(ramp(100, 100)))
    assert window.center - window.width / 2 == pytest.approx(20.5, abs=1)
    assert window.center + window.width / 2 == pytest.approx(4074.5, abs=1)


def test_a_stored_window_that_shows_nothing_is_passed_over():
    # a fluorograph from the field: values from 32,744 up, with a window of 2725 / 5310
    bright = (ramp(bits=14) + 32_744).astype(np.uint16)
    radiograph = decoded(bright, bits=16, WindowCenter="2725", WindowWidth="5310")
    assert choose_first_window(radiograph).name == "Automatic"
    assert levels(radiograph).std() > 50


def test_a_stored_window_that_shows_something_is_taken():
    window = choose_first_window(decoded(WindowCenter="2000", WindowWidth="1000"))
    assert isinstance(window, Window)
    assert window.center == 2000


def test_eight_bits_without_a_window_are_shown_as_stored():
    assert choose_first_window(decoded(ramp(bits=8), bits=8)) == AS_STORED
    assert choose_first_window(read_radiograph(png(ramp(bits=8)), name="a.png")) == AS_STORED


def test_eight_bits_that_use_little_of_the_brightness_get_an_automatic_window():
    flat = (ramp(bits=8) // 3 + 60).astype(np.uint8)
    assert choose_first_window(read_radiograph(png(flat), name="a.png")).name == "Automatic"


def test_twelve_bits_in_a_png_of_sixteen_are_not_shown_black():
    assert levels(read_radiograph(png(ramp(bits=12)), name="a.png")).max() == 255


def test_an_image_of_one_value_is_shown():
    assert len(render_display_jpeg(decoded(np.full((8, 8), 7, np.uint16)))) > 100


# ----------------------------------------------------------------------------------------- padding
def test_padding_is_black_and_left_out_of_the_automatic_window():
    padded = (ramp(bits=11) + 1000).astype(np.uint16)
    padded[:12] = 4095
    radiograph = decoded(padded, PixelPaddingValue=4095)
    shown = levels(radiograph)
    assert np.all(shown[:12] == 0)
    window = choose_first_window(radiograph)
    assert isinstance(window, Window)
    assert window.center + window.width / 2 <= 3048


def test_padding_is_black_in_monochrome1_too():
    padded = ramp(bits=12)
    padded[:2] = 0
    shown = levels(decoded(padded, PhotometricInterpretation="MONOCHROME1", PixelPaddingValue=0, **FULL))
    assert np.all(shown[:2] == 0)
    assert shown[2, 0] > 200


@pytest.mark.parametrize(("value", "limit"), [(0, 99), (99, 0)])
def test_a_padding_range_holds_both_ends_in_either_order(value, limit):
    radiograph = decoded(PixelPaddingValue=value, PixelPaddingRangeLimit=limit, **FULL)
    table = build_grey_table(radiograph, window=Window(center=100, width=10))
    assert radiograph.padding == (0, 99)
    assert np.all(table[:100] == 0)
    assert table[110] == 255


def test_padding_of_signed_pixels_is_signed():
    pixels = ramp(bits=12, signed=True)
    radiograph = decoded(pixels, PixelPaddingValue=-2048, WindowCenter="-3000", WindowWidth="10")
    assert radiograph.padding == (-2048, -2048)
    shown = levels(radiograph, radiograph.windows[0])
    assert shown[0, 0] == 0
    assert shown[-1, -1] == 255


# ------------------------------------------------------------------------------------ aspect, size
def size_of(picture: bytes) -> tuple[int, int]:
    return Image.open(io.BytesIO(picture)).size


def test_pixels_twice_as_high_as_wide_make_a_picture_twice_as_high():
    assert size_of(render_display_jpeg(decoded(PixelAspectRatio=["2", "1"]))) == (32, 48)


def test_pixels_twice_as_wide_as_high_make_a_picture_twice_as_wide():
    assert size_of(render_display_jpeg(decoded(PixelAspectRatio=["1", "2"]))) == (64, 24)


def test_spacing_says_the_aspect_where_nothing_else_does():
    assert size_of(render_display_jpeg(decoded(PixelSpacing=["0.2", "0.1"]))) == (32, 48)


@pytest.mark.parametrize("spacing", [["0.000", "0.000"], ["1.2", "1.201199999999"], ["0.15", "0.15"]])
def test_spacings_that_are_nothing_or_nearly_square_leave_the_picture_as_it_is(spacing):
    assert size_of(render_display_jpeg(decoded(PixelSpacing=spacing))) == (32, 24)


def test_the_longer_side_is_limited():
    assert size_of(render_display_jpeg(decoded(ramp(300, 400)), longest_side=200)) == (200, 150)


def test_nothing_is_enlarged():
    assert display_size(decoded(ramp(300, 400)), longest_side=2000) == (400, 300)


def test_the_picture_is_a_grey_jpeg():
    picture = Image.open(io.BytesIO(render_display_jpeg(decoded())))
    assert (picture.format, picture.mode) == ("JPEG", "L")
