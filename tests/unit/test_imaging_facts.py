"""The facts that the browser gets suffice to show the same image as the server renders."""

from __future__ import annotations

import io
import json
from typing import Any

import imagecodecs
import numpy as np
import pytest
from PIL import Image
from pydicom import Dataset
from pydicom.sequence import Sequence

from imaging.display import render_display_jpeg
from imaging.matrix import encode_matrix
from imaging.reader import read_radiograph
from imaging.viewer_facts import build_viewer_facts
from tests.unit.makers.dicom_files import dicom, ramp
from tests.unit.makers.sent_pixels import decode_matrix

SMOOTH = np.repeat(np.repeat(ramp(8, 8), 16, axis=0), 16, axis=1)  # blocks, which a JPEG hardly changes
SIGNED = np.repeat(np.repeat(ramp(8, 8, signed=True), 16, axis=0), 16, axis=1)


def facts_of(content: bytes) -> dict[str, Any]:
    """The facts as the browser gets them: through JSON."""
    decoded = read_radiograph(content, name="a file")
    return json.loads(json.dumps(build_viewer_facts(content, decoded, name="a file"), allow_nan=False))


def table(first: int, entries: list[int], *, bits: int = 16, name: str = "") -> Sequence:
    item = Dataset()
    item.LUTDescriptor = [len(entries), first, bits]
    item.LUTData = np.array(entries, "<u2").tobytes()
    if name:
        item.LUTExplanation = name
    return Sequence([item])


def shown_by_the_browser(content: bytes) -> np.ndarray:
    """Grey levels 0 to 255 from matrix and facts alone, in the order of steps that the standard gives."""
    facts = facts_of(content)
    decoded = read_radiograph(content, name="a file")
    wire = decode_matrix(
        encode_matrix(decoded), rows=facts["rows"], columns=facts["columns"], bits=facts["bits"]
    )
    stored = wire.astype(np.int64) - facts["offset"]
    modality = facts["modality"]
    if modality["kind"] == "table":
        entries = np.array(modality["table"])
        values = entries[np.clip(stored - modality["table_first"], 0, len(entries) - 1)].astype(float)
    else:
        values = stored * modality["slope"] + modality["intercept"]
    brightness = _brightness(values, facts)
    if facts["inverted"]:
        brightness = 1 - brightness
    if facts["padding"]:
        low, high = facts["padding"]
        brightness = np.where((stored >= low) & (stored <= high), 0, brightness)
    return brightness * 255


def _brightness(values: np.ndarray, facts: dict[str, Any]) -> np.ndarray:
    if facts["first_look"]["kind"] == "table":
        voi = facts["voi_tables"][0]
        entries = np.array(voi["values"]) / (2 ** voi["bits"] - 1)
        return np.clip(
            entries[np.clip(np.rint(values).astype(int) - voi["first"], 0, len(entries) - 1)], 0, 1
        )
    window = facts["windows"][0] if facts["first_look"]["kind"] == "window" else facts["automatic"]
    center, width = window["center"], window["width"]
    if window["function"] == "SIGMOID":
        return 1 / (1 + np.exp(-4 * (values - center) / width))
    if window["function"] == "LINEAR":  # PS3.3 C.11.2.1.2.1
        return np.clip((values - (center - 0.5)) / (width - 1) + 0.5, 0, 1)
    return np.clip((values - center) / width + 0.5, 0, 1)


@pytest.mark.parametrize(
    ("pixels", "attributes"),
    [
        (SMOOTH, {}),
        (SMOOTH, {"PhotometricInterpretation": "MONOCHROME1"}),
        (SMOOTH, {"PresentationLUTShape": "INVERSE"}),
        (SMOOTH, {"PhotometricInterpretation": "MONOCHROME1", "PresentationLUTShape": "INVERSE"}),
        (SMOOTH, {"WindowCenter": 2000, "WindowWidth": 1500}),
        (SMOOTH, {"WindowCenter": 2000, "WindowWidth": 1500, "VOILUTFunction": "SIGMOID"}),
        (SMOOTH, {"WindowCenter": 2000, "WindowWidth": 1500, "VOILUTFunction": "LINEAR_EXACT"}),
        (SMOOTH, {"RescaleSlope": 2.5, "RescaleIntercept": -1000, "WindowCenter": 3000, "WindowWidth": 6000}),
        (SMOOTH, {"RescaleSlope": -1, "RescaleIntercept": 4095, "WindowCenter": 2000, "WindowWidth": 1500}),
        (SMOOTH, {"ModalityLUTSequence": table(100, list(range(3000, 0, -1)))}),
        (SMOOTH, {"VOILUTSequence": table(0, [v // 16 for v in range(4096)], bits=8)}),
        (SMOOTH, {"VOILUTSequence": table(500, list(range(0, 65536, 32)), bits=16)}),
        (SMOOTH, {"PixelPaddingValue": 4095, "PixelPaddingRangeLimit": 3000}),
        (SIGNED, {"WindowCenter": 0, "WindowWidth": 3000}),
        (SIGNED, {"PixelPaddingValue": -2048, "PhotometricInterpretation": "MONOCHROME1"}),
        (SIGNED, {"VOILUTSequence": table(-2048, list(range(0, 65536, 16)), bits=16)}),
        (SMOOTH >> 4, {"BitsStored": 8, "HighBit": 7}),
    ],
)
def test_the_browser_shows_what_the_server_draws(pixels, attributes):
    content = dicom(pixels, **attributes)
    drawn = np.asarray(
        Image.open(io.BytesIO(render_display_jpeg(read_radiograph(content, name="x"), quality=95)))
    )
    assert np.abs(shown_by_the_browser(content) - drawn).max() < 6  # JPEG is not exact
    assert drawn.max() - drawn.min() > 200


def test_8_bit_pictures_too():
    content = bytes(imagecodecs.png_encode((SMOOTH >> 4).astype(np.uint8)))
    drawn = np.asarray(
        Image.open(io.BytesIO(render_display_jpeg(read_radiograph(content, name="x"), quality=95)))
    )
    assert np.abs(shown_by_the_browser(content) - drawn).max() < 6


def test_signed_values_say_their_offset():
    facts = facts_of(dicom(SIGNED))
    assert (facts["signed"], facts["offset"]) == (True, 32768)
    assert (facts["stored_min"], facts["stored_max"]) == (-2048, 2047)


def test_the_range_leaves_padding_out():
    facts = facts_of(dicom(ramp(), PixelPaddingValue=0))
    assert facts["stored_min"] > 0
    assert facts["padding"] == [0, 0]


def test_an_image_of_nothing_but_padding_has_a_range_still():
    facts = facts_of(dicom(np.full((4, 4), 7, np.uint16), PixelPaddingValue=7))
    assert (facts["stored_min"], facts["stored_max"]) == (7, 7)


def test_windows_keep_their_names():
    names = ["NORMAL", "HARD"]
    content = dicom(WindowCenter=[2000, 1000], WindowWidth=[3000, 500], WindowCenterWidthExplanation=names)
    facts = facts_of(content)
    assert [(window["name"], window["center"]) for window in facts["windows"]] == [
        ("NORMAL", 2000), ("HARD", 1000),
    ]  # fmt: skip


def test_a_table_keeps_its_name_and_its_entries():
    facts = facts_of(dicom(VOILUTSequence=table(10, [0, 5, 255], bits=8, name="CHEST")))
    assert facts["voi_tables"] == [{"name": "CHEST", "first": 10, "bits": 8, "values": [0, 5, 255]}]


def test_a_modality_table_is_sent_without_the_ends_that_only_go_on():
    facts = facts_of(dicom(ModalityLUTSequence=table(100, [7, 8, 9])))
    assert facts["modality"] == {
        "kind": "table", "slope": 1.0, "intercept": 0.0, "table_first": 100, "table": [7, 8, 9],
    }  # fmt: skip


def test_a_window_for_another_image_is_not_the_first_look():
    facts = facts_of(dicom(SMOOTH, WindowCenter=60000, WindowWidth=10))
    assert facts["first_look"]["kind"] == "automatic"
    assert len(facts["windows"]) == 1  # it is stored, so it can still be selected


@pytest.mark.parametrize(
    ("stated", "given"),
    [(["L", "F"], ["L", "F"]), (["A", "FL"], ["A", "FL"]), (["X", "F"], None), (["L"], None), (None, None)],
)
def test_orientation_is_given_where_it_is_one(stated, given):
    content = dicom() if stated is None else dicom(PatientOrientation=stated)
    assert facts_of(content)["orientation"] == given


# -------------------------------------------------------------------------------------------- spacing
def test_imager_pixel_spacing_is_of_the_detector_plane():
    spacing = facts_of(dicom(ImagerPixelSpacing=[0.2, 0.1]))["spacing"]
    assert (spacing["row_mm"], spacing["column_mm"], spacing["kind"]) == (0.2, 0.1, "detector plane")
    assert "smaller" in spacing["note"]


def test_the_magnification_is_told_where_the_file_estimates_it():
    content = dicom(ImagerPixelSpacing=[0.2, 0.2], EstimatedRadiographicMagnificationFactor="1.15")
    spacing = facts_of(content)["spacing"]
    assert spacing["kind"] == "detector plane"
    assert "1.15" in spacing["note"]


@pytest.mark.parametrize("calibration", ["GEOMETRY", "FIDUCIAL"])
def test_pixel_spacing_that_says_how_is_calibrated(calibration):
    content = dicom(
        PixelSpacing=[0.17, 0.17], PixelSpacingCalibrationType=calibration, ImagerPixelSpacing=[0.2, 0.2]
    )
    spacing = facts_of(content)["spacing"]
    assert (spacing["row_mm"], spacing["kind"]) == (0.17, "calibrated")


def test_pixel_spacing_that_does_not_say_how_gives_way_to_the_detectors():
    spacing = facts_of(dicom(PixelSpacing=[0.17, 0.17], ImagerPixelSpacing=[0.2, 0.2]))["spacing"]
    assert (spacing["row_mm"], spacing["kind"]) == (0.2, "detector plane")


@pytest.mark.parametrize(
    "stated",
    [
        {"PixelSpacing": [0.2, 0.2]},
        {"PixelSpacing": [0.2, 0.2], "PixelSpacingCalibrationType": "GUESSED"},
        {"ImagerPixelSpacing": [0, 0]},
        {"ImagerPixelSpacing": [-0.2, 0.2]},
        {},
    ],
)
def test_there_is_no_ruler_without_a_plane(stated):
    spacing = facts_of(dicom(**stated))["spacing"]
    assert (spacing["row_mm"], spacing["column_mm"], spacing["kind"]) == (None, None, None)
    assert "no ruler" in spacing["note"]


def test_a_png_has_no_ruler_and_no_orientation():
    facts = facts_of(bytes(imagecodecs.png_encode(ramp())))
    assert facts["spacing"]["kind"] is None
    assert facts["orientation"] is None
    assert facts["media"] == "image/png"
