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
from tests.unit.makers.planted_identifiers import PLANTED_BYTES, list_profile_tags, make_planted_file
from tests.unit.makers.raster_files import encode_image, png

KEY = PseudonymKey(secret=b"k" * 32)
OTHER_KEY = PseudonymKey(secret=b"o" * 32)


def deidentify_dataset(content: bytes, key: PseudonymKey = KEY) -> Dataset:
    return dcmread(io.BytesIO(deidentify(content, name="a.dcm", key=key).content))


def test_no_attribute_of_the_profile_remains():
    content, count = make_planted_file()
    assert count == len(list_profile_tags()) > 620
    deidentified = deidentify(content, name="a.dcm", key=KEY).content
    assert [planted for planted in PLANTED_BYTES if planted in deidentified] == []


def test_no_planted_number_remains():
    content, _ = make_planted_file()
    before, after = dcmread(io.BytesIO(content)), deidentify_dataset(content)
    unchanged_tags = {
        element.tag for element in after
        if element.tag in before and element.tag in set(list_profile_tags()) and element.value
        and element.value == before[element.tag].value
    }  # fmt: skip
    assert unchanged_tags == set()


def test_identifiers_inside_a_kept_sequence_are_removed():
    content, _ = make_planted_file()
    view = deidentify_dataset(content).ViewCodeSequence[0]
    assert view.CodeMeaning == "postero-anterior"
    assert "PatientName" not in view or not view.PatientName


def test_the_file_states_how_it_was_deidentified():
    dataset = deidentify_dataset(dicom())
    assert dataset.PatientIdentityRemoved == "YES"
    assert "Basic Profile 2026c" in dataset.DeidentificationMethod
    assert dataset.DeidentificationMethodCodeSequence[0].CodeValue == "113100"
    assert dataset.LongitudinalTemporalInformationModified == "REMOVED"


@pytest.mark.parametrize(
    ("syntax", "bits"),
    [
        (ImplicitVRLittleEndian, 12), (ExplicitVRLittleEndian, 12), (ExplicitVRBigEndian, 12),
        (DeflatedExplicitVRLittleEndian, 12), (RLELossless, 12), (JPEGBaseline8Bit, 8), (JPEGLosslessSV1, 12),
        (JPEGLSLossless, 12), (JPEG2000Lossless, 12),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)  # fmt: skip
def test_deidentification_keeps_the_pixels(syntax, bits):
    content = dicom(ramp(bits=bits), bits=bits, syntax=syntax)
    deidentified = deidentify(content, name="a.dcm", key=KEY).content
    before, after = read_radiograph(content, name="a"), read_radiograph(deidentified, name="b")
    assert np.array_equal(before.pixels, after.pixels)


def test_signed_pixels_keep_their_sign():
    content = dicom(ramp(bits=12, signed=True))
    deidentified = deidentify(content, name="a.dcm", key=KEY).content
    assert np.array_equal(
        read_radiograph(content, name="a").pixels, read_radiograph(deidentified, name="b").pixels
    )


def test_an_overlay_in_unused_bits_is_removed():
    with_overlay = ramp().copy()
    with_overlay[3, 5:9] |= 1 << 14
    dataset = deidentify_dataset(dicom(pixel_data=with_overlay.tobytes()))
    assert np.frombuffer(dataset.PixelData, np.uint16).max() < 1 << 12


def test_images_of_one_exam_stay_together():
    first = deidentify_dataset(dicom(StudyInstanceUID="1.2.3", SOPInstanceUID="1.2.3.1"))
    second = deidentify_dataset(dicom(StudyInstanceUID="1.2.3", SOPInstanceUID="1.2.3.2"))
    assert first.StudyInstanceUID == second.StudyInstanceUID != "1.2.3"
    assert first.SOPInstanceUID != second.SOPInstanceUID
    assert first.PatientID == second.PatientID


def test_another_key_gives_other_pseudonyms():
    content = dicom(StudyInstanceUID="1.2.3")
    assert (
        deidentify_dataset(content).StudyInstanceUID
        != deidentify_dataset(content, OTHER_KEY).StudyInstanceUID
    )
    assert deidentify_dataset(content).PatientID != deidentify_dataset(content, OTHER_KEY).PatientID


def test_deidentifying_twice_gives_the_same_bytes():
    once = deidentify(dicom(StudyInstanceUID="1.2.3"), name="a.dcm", key=KEY).content
    assert deidentify(once, name="a.dcm", key=KEY).content == once


def test_a_patient_id_marked_as_removed_is_still_replaced():
    assert deidentify_dataset(
        dicom(PatientID="MRN-12345", PatientIdentityRemoved="YES")
    ).PatientID.startswith("patient-")


def test_preamble_and_file_meta_are_rewritten():
    content, _ = make_planted_file()
    deidentified = deidentify(content, name="a.dcm", key=KEY).content
    assert deidentified[:128] == bytes(128)
    assert deidentify_dataset(content).file_meta.ImplementationVersionName == "OVERREAD"


def test_trailing_elements_after_the_pixels_are_removed():
    assert (
        b"trailing"
        not in deidentify(
            dicom() + b"\xfc\xff\xfc\xffOB\0\0\x08\0\0\0trailing", name="a.dcm", key=KEY
        ).content
    )


def test_a_view_from_the_description_becomes_the_view_position():
    dataset = deidentify_dataset(dicom(ViewPosition="", SeriesDescription="Chest lateral, Mr Smith"))
    assert dataset.ViewPosition == "LATERAL"
    assert "SeriesDescription" not in dataset


def test_age_and_sex_are_returned_but_removed_from_the_file():
    result = deidentify(dicom(PatientAge="093Y"), name="a.dcm", key=KEY)
    assert (result.facts.age, result.facts.sex, result.facts.view) == ("090Y", Sex.FEMALE, View.PA)
    assert "PatientAge" not in dcmread(io.BytesIO(result.content))


def test_a_file_with_a_damaged_date_is_accepted():
    content = dicom(StudyDate="20200102").replace(b"20200102", b"xx!!0102")
    assert not deidentify_dataset(content).StudyDate


def test_declared_burned_in_text_gives_a_note():
    assert deidentify(dicom(BurnedInAnnotation="YES"), name="a.dcm", key=KEY).notes


def test_a_file_that_is_no_radiograph_is_refused():
    with pytest.raises(UnreadableImage, match="CT"):
        deidentify(dicom(SOPClassUID=CT, Modality="CT"), name="a.dcm", key=KEY)


def test_a_png_keeps_only_its_pixels():
    original = png(ramp(bits=16))
    text = b"Author\0Planted Name"
    chunk = struct.pack(">I", len(text)) + b"tEXt" + text + struct.pack(">I", zlib.crc32(b"tEXt" + text))
    deidentified = deidentify(
        original[:33] + chunk + original[33:] + b"Planted tail", name="a.png", key=KEY
    ).content
    assert b"Planted" not in deidentified
    assert np.array_equal(read_radiograph(deidentified, name="a").pixels, ramp(bits=16))


@pytest.mark.parametrize("progressive", [False, True])
def test_a_jpeg_keeps_its_pixels_and_orientation(progressive):
    image = Image.fromarray(ramp(24, 32, bits=8))
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "Planted Name"
    content = encode_image(image, "JPEG", exif=exif, comment=b"Planted comment", progressive=progressive)
    deidentified = deidentify(content + b"Planted tail", name="a.jpg", key=KEY).content
    assert b"Planted" not in deidentified
    before, after = read_radiograph(content, name="a").pixels, read_radiograph(deidentified, name="b").pixels
    assert before.shape == (32, 24)
    assert np.array_equal(before, after)


def test_identity_values_are_read_from_the_header():
    identity_values = read_identity(dicom(StudyDate="20200102", AccessionNumber="A-77812"), name="a.dcm")
    assert IdentityValue(kind=IdentityKind.NAME, value="Secret^Name") in identity_values
    assert IdentityValue(kind=IdentityKind.NUMBER, value="A-77812") in identity_values
    assert IdentityValue(kind=IdentityKind.DATE, value="20200102") in identity_values
