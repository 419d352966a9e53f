"""Which DICOM files are accepted, which facts are stored, and which attribute a refusal names."""

from __future__ import annotations

import logging
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from pydicom.encaps import encapsulate
from pydicom.uid import ImplicitVRLittleEndian, JPEG2000Lossless, RLELossless

from domain.vocabulary import Sex, View
from imaging.dicom_file import ATTRIBUTES_READ
from imaging.dicom_stored_header import STORED_ATTRIBUTES
from imaging.errors import UnreadableImage
from imaging.radiograph import ImageFacts
from imaging.reader import describe, read_radiograph
from tests.unit.makers.dicom_files import (
    COMPUTED_RADIOGRAPHY,
    CT,
    SECONDARY_CAPTURE,
    deflate_bomb,
    dicom,
    dicom_with_nested_sequences,
    encode_codestream,
    ramp,
)


def read_refusal(content: bytes) -> str:
    with pytest.raises(UnreadableImage) as caught:
        describe(content, name="a.dcm")
    with pytest.raises(UnreadableImage):
        read_radiograph(content, name="a.dcm")
    return str(caught.value)


# ------------------------------------------------------------------------------------------- facts
def test_the_header_gives_the_facts():
    facts = describe(dicom(PatientIdentityRemoved="YES", PatientID="P7"), name="a.dcm")
    assert facts == ImageFacts(
        media_type="application/dicom",
        rows=24,
        columns=32,
        bits=12,
        photometric="MONOCHROME2",
        view=View.PA,
        patient="P7",
        age="058Y",
        sex=Sex.FEMALE,
    )


def test_only_listed_header_attributes_are_kept():
    planted = dicom(
        PatientName="Planted^Name",
        InstitutionName="Planted Clinic",
        ReferringPhysicianName="Planted^Doctor",
        PatientBirthDate="19610203",
        AccessionNumber="PLANTED1",
        SeriesDescription="Planted series",
        PatientComments="planted comment",
    )
    facts = describe(planted, name="a.dcm")
    values = " ".join(str(getattr(facts, field.name)) for field in fields(facts))
    assert "lanted" not in values
    assert "PLANTED" not in values
    assert "1961" not in values
    assert set(STORED_ATTRIBUTES) <= set(ATTRIBUTES_READ)


def test_nothing_of_a_header_is_logged(caplog):
    caplog.set_level(logging.DEBUG)
    describe(dicom(PatientID="MRN-12345").replace(b"058Y", b"0x8Y"), name="a.dcm")
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("attributes", "view"),
    [
        ({"ViewPosition": "PA"}, View.PA),
        ({"ViewPosition": "AP"}, View.AP),
        ({"ViewPosition": "LL"}, View.LATERAL),
        ({"ViewPosition": "RL"}, View.LATERAL),
        ({"ViewPosition": "RLO"}, View.OTHER),
        ({"ViewPosition": "XY"}, View.OTHER),
        ({"ViewPosition": "", "PatientOrientation": ["A", "F"]}, View.LATERAL),
        ({"ViewPosition": "", "PatientOrientation": ["P", "F"]}, View.LATERAL),
        ({"ViewPosition": "", "PatientOrientation": ["L", "F"]}, View.UNKNOWN),
        ({"ViewPosition": "", "SeriesDescription": "view: PA"}, View.PA),
        ({"ViewPosition": "", "SeriesDescription": "Chest a.p. bed"}, View.AP),
        ({"ViewPosition": "", "SeriesDescription": "CHEST LAT"}, View.LATERAL),
        ({"ViewPosition": "", "SeriesDescription": "PA and lateral"}, View.UNKNOWN),
        ({"ViewPosition": "", "SeriesDescription": "APEX"}, View.UNKNOWN),
        ({"ViewPosition": ""}, View.UNKNOWN),
    ],
)
def test_the_view_is_read_from_the_header(attributes, view):
    assert describe(dicom(**attributes), name="a.dcm").view is view


@pytest.mark.parametrize(
    ("stated", "age"), [(b"058Y", "058Y"), (b"61  ", "61"), (b"old ", None), (b"    ", None)]
)
def test_an_age_is_kept_as_stated_or_dropped(stated, age):
    assert describe(dicom().replace(b"058Y", stated), name="a.dcm").age == age


# ------------------------------------------------------------------------------------------- kinds
def test_a_cr_image_is_accepted():
    assert describe(dicom(SOPClassUID=COMPUTED_RADIOGRAPHY, Modality="CR"), name="a.dcm").rows == 24


def test_a_secondary_capture_of_a_radiograph_is_accepted():
    assert describe(dicom(SOPClassUID=SECONDARY_CAPTURE, Modality="CR"), name="a.dcm").rows == 24


def test_a_secondary_capture_of_another_modality_is_refused():
    assert "Modality (0008,0060): is US" in read_refusal(dicom(SOPClassUID=SECONDARY_CAPTURE, Modality="US"))


def test_ct_is_refused_by_its_sop_class():
    assert "SOPClassUID (0008,0016): is CT Image Storage" in read_refusal(
        dicom(SOPClassUID=CT, Modality="CT")
    )


def test_a_cr_image_with_modality_ct_is_refused():
    assert "Modality (0008,0060): is CT" in read_refusal(dicom(Modality="CT"))


def test_a_file_without_preamble_is_accepted():
    without_preamble = dicom(syntax=ImplicitVRLittleEndian, preamble=False)
    assert np.array_equal(read_radiograph(without_preamble, name="a").pixels, ramp())


def test_a_header_without_an_image_is_refused():
    assert "PixelData (7FE0,0010): is missing" in read_refusal(dicom(pixel_data=b""))


def test_another_kind_of_file_is_refused():
    assert "a.dcm: is not a DICOM, PNG or JPEG file" in read_refusal(b"GIF89a" + bytes(200))


def test_an_empty_file_is_refused():
    assert read_refusal(b"") == "a.dcm: is empty."


# ------------------------------------------------------------------------- rules of DICOM's modules
@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"Rows": 0}, "Rows (0028,0010): must be greater than 0"),
        ({"Rows": 65535, "Columns": 65535}, "the maximum is 80 million"),
        ({"NumberOfFrames": 2}, "NumberOfFrames (0028,0008): is 2"),
        ({"BitsAllocated": 32}, "BitsAllocated (0028,0100): is 32"),
        ({"BitsStored": 17}, "BitsStored (0028,0101): is 17; it must be 6 to 16"),
        ({"BitsStored": 1, "HighBit": 0}, "BitsStored (0028,0101): is 1"),
        ({"BitsStored": 10, "HighBit": 15}, "HighBit (0028,0102): is 15; it must be 9"),
        ({"PixelRepresentation": 2}, "PixelRepresentation (0028,0103)"),
        ({"SamplesPerPixel": 2}, "PhotometricInterpretation (0028,0004): is MONOCHROME2 with 2 samples"),
        ({"PhotometricInterpretation": "HSV"}, "PhotometricInterpretation (0028,0004): is HSV"),
        ({"PhotometricInterpretation": "PALETTE COLOR"}, "RedPaletteColorLookupTableDescriptor (0028,1101)"),
        ({"RescaleSlope": "0", "RescaleIntercept": "0"}, "RescaleSlope (0028,1053): is 0"),
    ],
)
def test_a_refusal_names_the_invalid_attribute(attributes, message):
    with pytest.raises(UnreadableImage) as caught:
        read_radiograph(dicom(**attributes), name="a.dcm")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "keyword", ["Rows", "Columns", "BitsAllocated", "BitsStored", "HighBit", "PixelRepresentation"]
)
def test_the_message_names_a_missing_attribute(keyword):
    assert keyword in read_refusal(dicom(omit=(keyword,)))


def test_pixel_data_that_are_too_short_are_refused():
    assert "too short: 1534 bytes" in read_refusal(dicom(pixel_data=ramp().tobytes()[:-2]))


def test_pixel_data_that_are_too_long_are_refused():
    assert "too long: 3072 bytes" in read_refusal(dicom(pixel_data=ramp().tobytes() * 2))


def test_one_padding_byte_is_ignored():
    odd_sized = ramp(3, 3, bits=8)
    assert np.array_equal(read_radiograph(dicom(odd_sized, bits=8), name="a.dcm").pixels, odd_sized)


def test_two_compressed_frames_are_refused():
    frame = encode_codestream(ramp(), JPEG2000Lossless)
    two_frames = dicom(syntax=JPEG2000Lossless, pixel_data=encapsulate([frame, frame]))
    assert "has 2 compressed frames" in read_refusal(two_frames)


def test_two_rle_frames_are_refused():
    frame = encode_codestream(ramp(), RLELossless)
    assert "has 2 RLE frames" in read_refusal(
        dicom(syntax=RLELossless, pixel_data=encapsulate([frame, frame]))
    )


def test_a_frame_whose_size_differs_from_the_header_is_refused():
    frame = encapsulate([encode_codestream(ramp(10, 10), JPEG2000Lossless)])
    assert "Rows (0028,0010): is 24, but the compressed pixels state 10" in read_refusal(
        dicom(syntax=JPEG2000Lossless, pixel_data=frame)
    )


def test_a_compressed_frame_that_ends_too_early_is_refused():
    frame = encode_codestream(ramp(), JPEG2000Lossless)
    assert "is truncated" in read_refusal(
        dicom(syntax=JPEG2000Lossless, pixel_data=encapsulate([frame[:-40]]))
    )


def test_a_fragmented_frame_is_read_as_one_frame():
    fragments = encapsulate([encode_codestream(ramp(), JPEG2000Lossless)], fragments_per_frame=3)
    pixels = read_radiograph(dicom(syntax=JPEG2000Lossless, pixel_data=fragments), name="a.dcm").pixels
    assert np.array_equal(pixels, ramp())


def test_the_message_names_an_unsupported_transfer_syntax():
    content = dicom().replace(b"1.2.840.10008.1.2.1\0", b"1.2.840.10008.1.2.9\0")
    assert "TransferSyntaxUID (0002,0010)" in read_refusal(content)


@pytest.mark.slow
def test_a_deflated_bomb_is_refused_before_it_is_inflated():
    bomb = deflate_bomb(1 << 28)
    assert len(bomb) < 1_000_000
    assert "inflates to more than 200 MB" in read_refusal(bomb)


def test_the_error_for_sequences_nested_too_deep_names_their_tag():
    assert "ReferencedSeriesSequence (0008,1115): has sequences that are nested too deeply" in read_refusal(
        dicom_with_nested_sequences(300)
    )


def test_a_damaged_value_needed_for_the_pixels_is_refused():
    content = dicom(RescaleSlope="12345678", RescaleIntercept="0").replace(b"12345678", b"12x4567 ")
    assert "RescaleSlope (0028,1053): is not a number" in read_refusal(content)


def test_a_damaged_display_value_counts_as_missing():
    content = dicom(WindowCenter="12345678", WindowWidth="100").replace(b"12345678", b"12x4567 ")
    assert read_radiograph(content, name="a.dcm").windows == ()


# ------------------------------------------------------------------------------------------ colour
def test_rgb_is_shown_as_luminance_with_a_note():
    colour = np.zeros((8, 8, 3), np.uint8)
    colour[..., 0], colour[..., 1], colour[..., 2] = 200, 100, 50
    decoded = read_radiograph(dicom(colour, bits=8, SOPClassUID=SECONDARY_CAPTURE), name="a.dcm")
    # 0.299 * 200 + 0.587 * 100 + 0.114 * 50 = 124.2
    assert np.all(decoded.pixels == 124)
    assert decoded.facts.notes == ("Stored in colour; its luminance is shown.",)


def test_colour_by_plane_equals_colour_by_pixel():
    colour = np.random.default_rng(1).integers(0, 256, (6, 8, 3), np.uint8)
    by_plane = np.moveaxis(colour, -1, 0).tobytes()
    pixels_by_pixel = read_radiograph(dicom(colour, bits=8), name="a.dcm").pixels
    pixels_by_plane = read_radiograph(
        dicom(colour, bits=8, PlanarConfiguration=1, pixel_data=by_plane), name="b.dcm"
    ).pixels
    assert np.array_equal(pixels_by_pixel, pixels_by_plane)


def test_the_brightness_of_ybr_is_its_first_sample():
    colour = np.random.default_rng(1).integers(0, 256, (6, 8, 3), np.uint8)
    decoded = read_radiograph(dicom(colour, bits=8, PhotometricInterpretation="YBR_FULL"), name="a.dcm")
    assert np.array_equal(decoded.pixels, colour[..., 0])


def test_a_palette_is_applied():
    palette: dict[str, Any] = {}
    for colour in ("Red", "Green", "Blue"):
        palette[f"{colour}PaletteColorLookupTableDescriptor"] = [256, 0, 16]
        table = (np.arange(256, dtype="<u2")[::-1] * 257).tobytes()
        palette[f"{colour}PaletteColorLookupTableData"] = table
    stored = ramp(bits=8)
    decoded = read_radiograph(
        dicom(stored, bits=8, PhotometricInterpretation="PALETTE COLOR", **palette), name="a.dcm"
    )
    assert np.array_equal(decoded.pixels, 255 - stored)


def test_bits_above_bits_stored_are_ignored():
    stored = ramp(bits=10)
    with_overlay = (stored | 0x8000).astype(np.uint16)
    decoded = read_radiograph(dicom(stored, bits=10, pixel_data=with_overlay.tobytes()), name="a.dcm")
    assert np.array_equal(decoded.pixels, stored)
