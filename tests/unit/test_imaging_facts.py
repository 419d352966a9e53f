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
from tests.unit.makers.matrix_decoder import decode_matrix

BLOCKS = np.repeat(np.repeat(ramp(8, 8), 16, axis=0), 16, axis=1)  # JPEG hardly changes them
SIGNED_BLOCKS = np.repeat(np.repeat(ramp(8, 8, signed=True), 16, axis=0), 16, axis=1)


def load_facts(content: bytes) -> dict[str, Any]:
    """The facts as the browser gets them: through JSON."""
    decoded = read_radiograph(content, name="a file")
    return json.loads(json.dumps(build_viewer_facts(content, decoded, name="a file"), allow_nan=False))


def make_lookup_sequence(
    first_mapped_value: int, entries: list[int], *, bits: int = 16, name: str = ""
) -> Sequence:
    item = Dataset()
    item.LUTDescriptor = [len(entries), first_mapped_value, bits]
    item.LUTData = np.array(entries, "<u2").tobytes()
    if name:
        item.LUTExplanation = name
    return Sequence([item])


def render_like_browser(content: bytes) -> np.ndarray:
    """Grey levels 0 to 255 from matrix and facts alone, in the order of steps that the standard gives."""
    facts = load_facts(content)
    decoded = read_radiograph(content, name="a file")
    received = decode_matrix(
        encode_matrix(decoded), rows=facts["rows"], columns=facts["columns"], bits=facts["bits"]
    )
    stored = received.astype(np.int64) - facts["offset"]
    modality = facts["modality"]
    if modality["kind"] == "table":
        entries = np.array(modality["table"])
        values = entries[np.clip(stored - modality["table_first"], 0, len(entries) - 1)].astype(float)
    else:
        values = stored * modality["slope"] + modality["intercept"]
    brightness = _compute_brightness(values, facts)
    if facts["inverted"]:
        brightness = 1 - brightness
    if facts["padding"]:
        low, high = facts["padding"]
        brightness = np.where((stored >= low) & (stored <= high), 0, brightness)
    return brightness * 255


def _compute_brightness(values: np.ndarray, facts: dict[str, Any]) -> np.ndarray:
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
        (BLOCKS, {}),
        (BLOCKS, {"PhotometricInterpretation": "MONOCHROME1"}),
        (BLOCKS, {"PresentationLUTShape": "INVERSE"}),
        (BLOCKS, {"PhotometricInterpretation": "MONOCHROME1", "PresentationLUTShape": "INVERSE"}),
        (BLOCKS, {"WindowCenter": 2000, "WindowWidth": 1500}),
        (BLOCKS, {"WindowCenter": 2000, "WindowWidth": 1500, "VOILUTFunction": "SIGMOID"}),
        (BLOCKS, {"WindowCenter": 2000, "WindowWidth": 1500, "VOILUTFunction": "LINEAR_EXACT"}),
        (BLOCKS, {"RescaleSlope": 2.5, "RescaleIntercept": -1000, "WindowCenter": 3000, "WindowWidth": 6000}),
        (BLOCKS, {"RescaleSlope": -1, "RescaleIntercept": 4095, "WindowCenter": 2000, "WindowWidth": 1500}),
        (BLOCKS, {"ModalityLUTSequence": make_lookup_sequence(100, list(range(3000, 0, -1)))}),
        (BLOCKS, {"VOILUTSequence": make_lookup_sequence(0, [v // 16 for v in range(4096)], bits=8)}),
        (BLOCKS, {"VOILUTSequence": make_lookup_sequence(500, list(range(0, 65536, 32)), bits=16)}),
        (BLOCKS, {"PixelPaddingValue": 4095, "PixelPaddingRangeLimit": 3000}),
        (SIGNED_BLOCKS, {"WindowCenter": 0, "WindowWidth": 3000}),
        (SIGNED_BLOCKS, {"PixelPaddingValue": -2048, "PhotometricInterpretation": "MONOCHROME1"}),
        (SIGNED_BLOCKS, {"VOILUTSequence": make_lookup_sequence(-2048, list(range(0, 65536, 16)), bits=16)}),
        (BLOCKS >> 4, {"BitsStored": 8, "HighBit": 7}),
    ],
)
def test_browser_and_server_render_the_same_brightness(pixels, attributes):
    content = dicom(pixels, **attributes)
    server_picture = np.asarray(
        Image.open(io.BytesIO(render_display_jpeg(read_radiograph(content, name="x"), quality=95)))
    )
    assert np.abs(render_like_browser(content) - server_picture).max() < 6  # JPEG is not exact
    assert server_picture.max() - server_picture.min() > 200


def test_browser_and_server_render_8_bit_pictures_alike():
    content = bytes(imagecodecs.png_encode((BLOCKS >> 4).astype(np.uint8)))
    server_picture = np.asarray(
        Image.open(io.BytesIO(render_display_jpeg(read_radiograph(content, name="x"), quality=95)))
    )
    assert np.abs(render_like_browser(content) - server_picture).max() < 6


def test_signed_values_have_an_offset():
    facts = load_facts(dicom(SIGNED_BLOCKS))
    assert (facts["signed"], facts["offset"]) == (True, 32768)
    assert (facts["stored_min"], facts["stored_max"]) == (-2048, 2047)


def test_the_stored_range_excludes_padding():
    facts = load_facts(dicom(ramp(), PixelPaddingValue=0))
    assert facts["stored_min"] > 0
    assert facts["padding"] == [0, 0]


def test_an_image_of_only_padding_still_has_a_range():
    facts = load_facts(dicom(np.full((4, 4), 7, np.uint16), PixelPaddingValue=7))
    assert (facts["stored_min"], facts["stored_max"]) == (7, 7)


def test_windows_keep_their_names():
    names = ["NORMAL", "HARD"]
    content = dicom(WindowCenter=[2000, 1000], WindowWidth=[3000, 500], WindowCenterWidthExplanation=names)
    facts = load_facts(content)
    assert [(window["name"], window["center"]) for window in facts["windows"]] == [
        ("NORMAL", 2000), ("HARD", 1000),
    ]  # fmt: skip


def test_a_table_keeps_its_name_and_its_entries():
    facts = load_facts(dicom(VOILUTSequence=make_lookup_sequence(10, [0, 5, 255], bits=8, name="CHEST")))
    assert facts["voi_tables"] == [{"name": "CHEST", "first": 10, "bits": 8, "values": [0, 5, 255]}]


def test_a_modality_lut_is_sent_without_constant_ends():
    facts = load_facts(dicom(ModalityLUTSequence=make_lookup_sequence(100, [7, 8, 9])))
    assert facts["modality"] == {
        "kind": "table", "slope": 1.0, "intercept": 0.0, "table_first": 100, "table": [7, 8, 9],
    }  # fmt: skip


def test_an_unsuitable_window_is_not_shown_first():
    facts = load_facts(dicom(BLOCKS, WindowCenter=60000, WindowWidth=10))
    assert facts["first_look"]["kind"] == "automatic"
    assert len(facts["windows"]) == 1  # it is stored, so it can still be selected


@pytest.mark.parametrize(
    ("stated", "sent"),
    [(["L", "F"], ["L", "F"]), (["A", "FL"], ["A", "FL"]), (["X", "F"], None), (["L"], None), (None, None)],
)
def test_only_a_valid_orientation_is_sent(stated, sent):
    content = dicom() if stated is None else dicom(PatientOrientation=stated)
    assert load_facts(content)["orientation"] == sent


# -------------------------------------------------------------------------------------------- spacing
def test_imager_pixel_spacing_is_in_the_detector_plane():
    spacing = load_facts(dicom(ImagerPixelSpacing=[0.2, 0.1]))["spacing"]
    assert (spacing["row_mm"], spacing["column_mm"], spacing["kind"]) == (0.2, 0.1, "detector plane")
    assert "smaller" in spacing["note"]


def test_the_estimated_magnification_is_in_the_note():
    content = dicom(ImagerPixelSpacing=[0.2, 0.2], EstimatedRadiographicMagnificationFactor="1.15")
    spacing = load_facts(content)["spacing"]
    assert spacing["kind"] == "detector plane"
    assert "1.15" in spacing["note"]


@pytest.mark.parametrize("calibration", ["GEOMETRY", "FIDUCIAL"])
def test_pixel_spacing_with_a_calibration_type_is_calibrated(calibration):
    content = dicom(
        PixelSpacing=[0.17, 0.17], PixelSpacingCalibrationType=calibration, ImagerPixelSpacing=[0.2, 0.2]
    )
    spacing = load_facts(content)["spacing"]
    assert (spacing["row_mm"], spacing["kind"]) == (0.17, "calibrated")


def test_detector_spacing_precedes_uncalibrated_pixel_spacing():
    spacing = load_facts(dicom(PixelSpacing=[0.17, 0.17], ImagerPixelSpacing=[0.2, 0.2]))["spacing"]
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
def test_spacing_without_a_known_plane_gives_no_ruler(stated):
    spacing = load_facts(dicom(**stated))["spacing"]
    assert (spacing["row_mm"], spacing["column_mm"], spacing["kind"]) == (None, None, None)
    assert "no ruler" in spacing["note"]


def test_a_png_has_no_ruler_and_no_orientation():
    facts = load_facts(bytes(imagecodecs.png_encode(ramp())))
    assert facts["spacing"]["kind"] is None
    assert facts["orientation"] is None
    assert facts["media"] == "image/png"
