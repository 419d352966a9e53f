"""De-identified files: nothing of the profile is left, the image is unchanged, exams stay grouped."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from pydicom import Dataset, dcmread
from pydicom.uid import (
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
    JPEG2000Lossless,
    JPEGBaseline8Bit,
    JPEGLosslessSV1,
    JPEGLSLossless,
    RLELossless,
)

from domain.vocabulary import Sex, View
from imaging.deidentify import deidentify
from imaging.errors import UnreadableImage
from imaging.identity import IdentityKind, IdentityValue, read_identity
from imaging.pseudonyms import PseudonymKey
from imaging.reader import read_radiograph
from tests.unit.makers.dicom_files import CT, dicom, ramp
from tests.unit.makers.planted import TELLTALE, planted_file, profile_tags
from tests.unit.makers.raster_files import png, saved

KEY = PseudonymKey(secret=b"k" * 32)
OTHER = PseudonymKey(secret=b"o" * 32)


def cleaned(content: bytes, key: PseudonymKey = KEY) -> Dataset:
    return dcmread(io.BytesIO(deidentify(content, name="a.dcm", key=key).content))


def test_nothing_is_left_of_any_attribute_of_the_profile():
    content, count = planted_file()
    assert count == len(profile_tags()) > 620
    made = deidentify(content, name="a.dcm", key=KEY).content
    assert [word for word in TELLTALE if word in made] == []


def test_no_planted_number_is_left_either():
    content, _ = planted_file()
    before, after = dcmread(io.BytesIO(content)), cleaned(content)
    kept = {
        element.tag for element in after
        if element.tag in before and element.tag in set(profile_tags()) and element.value
        and element.value == before[element.tag].value
    }  # fmt: skip
    assert kept == set()


def test_an_attribute_in_a_sequence_that_stays_goes_too():
    content, _ = planted_file()
    view = cleaned(content).ViewCodeSequence[0]
    assert view.CodeMeaning == "postero-anterior"
    assert "PatientName" not in view or not view.PatientName


def test_it_says_that_and_how_the_identity_was_removed():
    made = cleaned(dicom())
    assert made.PatientIdentityRemoved == "YES"
    assert "Basic Profile 2026c" in made.DeidentificationMethod
    assert made.DeidentificationMethodCodeSequence[0].CodeValue == "113100"
    assert made.LongitudinalTemporalInformationModified == "REMOVED"


@pytest.mark.parametrize(
    ("syntax", "bits"),
    [
        (ImplicitVRLittleEndian, 12), (ExplicitVRLittleEndian, 12), (ExplicitVRBigEndian, 12),
        (DeflatedExplicitVRLittleEndian, 12), (RLELossless, 12), (JPEGBaseline8Bit, 8), (JPEGLosslessSV1, 12),
        (JPEGLSLossless, 12), (JPEG2000Lossless, 12),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)  # fmt: skip
def test_the_picture_is_the_same(syntax, bits):
    content = dicom(ramp(bits=bits), bits=bits, syntax=syntax)
    made = deidentify(content, name="a.dcm", key=KEY).content
    before, after = read_radiograph(content, name="a"), read_radiograph(made, name="b")
    assert np.array_equal(before.pixels, after.pixels)


def test_signed_pixels_keep_their_sign():
    content = dicom(ramp(bits=12, signed=True))
    made = deidentify(content, name="a.dcm", key=KEY).content
    assert np.array_equal(read_radiograph(content, name="a").pixels, read_radiograph(made, name="b").pixels)


def test_an_overlay_above_the_pixels_bits_is_taken_out():
    drawn = ramp().copy()
    drawn[3, 5:9] |= 1 << 14
    made = cleaned(dicom(pixel_data=drawn.tobytes()))
    assert np.frombuffer(made.PixelData, np.uint16).max() < 1 << 12


def test_images_of_one_exam_stay_together():
    first = cleaned(dicom(StudyInstanceUID="1.2.3", SOPInstanceUID="1.2.3.1"))
    second = cleaned(dicom(StudyInstanceUID="1.2.3", SOPInstanceUID="1.2.3.2"))
    assert first.StudyInstanceUID == second.StudyInstanceUID != "1.2.3"
    assert first.SOPInstanceUID != second.SOPInstanceUID
    assert first.PatientID == second.PatientID


def test_another_key_gives_other_numbers():
    content = dicom(StudyInstanceUID="1.2.3")
    assert cleaned(content).StudyInstanceUID != cleaned(content, OTHER).StudyInstanceUID
    assert cleaned(content).PatientID != cleaned(content, OTHER).PatientID


def test_done_again_it_is_the_same_byte_for_byte():
    once = deidentify(dicom(StudyInstanceUID="1.2.3"), name="a.dcm", key=KEY).content
    assert deidentify(once, name="a.dcm", key=KEY).content == once


def test_a_number_of_a_patient_that_calls_itself_removed_is_replaced_all_the_same():
    assert cleaned(dicom(PatientID="MRN-12345", PatientIdentityRemoved="YES")).PatientID.startswith(
        "patient-"
    )


def test_the_meta_information_and_the_preamble_are_our_own():
    content, _ = planted_file()
    made = deidentify(content, name="a.dcm", key=KEY).content
    assert made[:128] == bytes(128)
    assert cleaned(content).file_meta.ImplementationVersionName == "OVERREAD"


def test_what_follows_the_pixels_goes():
    assert (
        b"trailing"
        not in deidentify(
            dicom() + b"\xfc\xff\xfc\xffOB\0\0\x08\0\0\0trailing", name="a.dcm", key=KEY
        ).content
    )


def test_a_view_that_only_a_description_tells_is_kept_as_view_position():
    made = cleaned(dicom(ViewPosition="", SeriesDescription="Chest lateral, Mr Smith"))
    assert made.ViewPosition == "LATERAL"
    assert "SeriesDescription" not in made


def test_age_and_sex_are_told_but_not_left_in_the_file():
    made = deidentify(dicom(PatientAge="093Y"), name="a.dcm", key=KEY)
    assert (made.facts.age, made.facts.sex, made.facts.view) == ("090Y", Sex.FEMALE, View.PA)
    assert "PatientAge" not in dcmread(io.BytesIO(made.content))


def test_a_damaged_date_keeps_no_file_out():
    content = dicom(StudyDate="20200102").replace(b"20200102", b"xx!!0102")
    assert not cleaned(content).StudyDate


def test_burned_in_text_is_told():
    assert deidentify(dicom(BurnedInAnnotation="YES"), name="a.dcm", key=KEY).notes


def test_what_is_no_radiograph_is_refused():
    with pytest.raises(UnreadableImage, match="CT"):
        deidentify(dicom(SOPClassUID=CT, Modality="CT"), name="a.dcm", key=KEY)


def test_a_png_keeps_its_picture_and_nothing_else():
    plain = png(ramp(bits=16))
    text = b"Author\0Planted Name"
    chunk = struct.pack(">I", len(text)) + b"tEXt" + text + struct.pack(">I", zlib.crc32(b"tEXt" + text))
    made = deidentify(plain[:33] + chunk + plain[33:] + b"Planted tail", name="a.png", key=KEY).content
    assert b"Planted" not in made
    assert np.array_equal(read_radiograph(made, name="a").pixels, ramp(bits=16))


@pytest.mark.parametrize("progressive", [False, True])
def test_a_jpeg_keeps_its_picture_and_its_orientation(progressive):
    image = Image.fromarray(ramp(24, 32, bits=8))
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "Planted Name"
    content = saved(image, "JPEG", exif=exif, comment=b"Planted comment", progressive=progressive)
    made = deidentify(content + b"Planted tail", name="a.jpg", key=KEY).content
    assert b"Planted" not in made
    before, after = read_radiograph(content, name="a").pixels, read_radiograph(made, name="b").pixels
    assert before.shape == (32, 24)
    assert np.array_equal(before, after)


def test_the_header_says_who_it_is():
    found = read_identity(dicom(StudyDate="20200102", AccessionNumber="A-77812"), name="a.dcm")
    assert IdentityValue(kind=IdentityKind.NAME, value="Secret^Name") in found
    assert IdentityValue(kind=IdentityKind.NUMBER, value="A-77812") in found
    assert IdentityValue(kind=IdentityKind.DATE, value="20200102") in found
