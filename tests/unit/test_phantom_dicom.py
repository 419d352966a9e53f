"""Phantoms on disk: valid DICOM DX that reads back as written and is identical each time."""

import numpy as np
import pydicom
import pytest

from demo.phantom import View
from demo.phantom.dicom import TransferSyntax, write_dicom
from demo.phantom.render import render_exam


@pytest.fixture(scope="module")
def exam():
    return render_exam(4, sex="F", age=63, rows=250, columns=200)


@pytest.mark.parametrize("syntax", TransferSyntax)
@pytest.mark.parametrize("monochrome1", [False, True])
def test_stored_pixels_equal_the_rendered_ones(exam, tmp_path, syntax, monochrome1):
    paths = write_dicom(exam, tmp_path, transfer_syntax=syntax, monochrome1=monochrome1)
    for path, image in zip(paths, exam.images, strict=True):
        stored = pydicom.dcmread(path).pixel_array
        assert np.array_equal(4095 - stored if monochrome1 else stored, image.pixels)


@pytest.mark.parametrize("syntax", TransferSyntax)
def test_same_seed_gives_the_same_bytes(exam, tmp_path, syntax):
    second_exam = render_exam(4, sex="F", age=63, rows=250, columns=200)
    first_paths = write_dicom(exam, tmp_path / "a", transfer_syntax=syntax)
    second_paths = write_dicom(second_exam, tmp_path / "b", transfer_syntax=syntax)
    assert [path.read_bytes() for path in first_paths] == [path.read_bytes() for path in second_paths]


def test_files_are_dx_for_presentation_of_one_study(exam, tmp_path):
    frontal, lateral = (pydicom.dcmread(path) for path in write_dicom(exam, tmp_path))
    for dataset in (frontal, lateral):
        assert dataset.SOPClassUID.name == "Digital X-Ray Image Storage - For Presentation"
        assert (dataset.Modality, dataset.BitsStored, dataset.PixelRepresentation) == ("DX", 12, 0)
        assert dataset.BodyPartExamined == "CHEST"
        assert "Laterality" not in dataset
    assert frontal.StudyInstanceUID == lateral.StudyInstanceUID
    assert frontal.SOPInstanceUID != lateral.SOPInstanceUID


def test_views_state_the_patient_orientation(exam, tmp_path):
    frontal, lateral = (pydicom.dcmread(path) for path in write_dicom(exam, tmp_path))
    assert (frontal.ViewPosition, list(frontal.PatientOrientation)) == ("PA", ["L", "F"])
    assert (lateral.ViewPosition, list(lateral.PatientOrientation)) == ("LL", ["P", "F"])


def test_there_are_several_named_windows(exam, tmp_path):
    dataset = pydicom.dcmread(write_dicom(exam, tmp_path)[0])
    assert (
        len(dataset.WindowCenter) == len(dataset.WindowWidth) == len(dataset.WindowCenterWidthExplanation) > 1
    )


@pytest.mark.parametrize(
    ("monochrome1", "photometric", "shape"),
    [(False, "MONOCHROME2", "IDENTITY"), (True, "MONOCHROME1", "INVERSE")],
)
def test_lut_shape_fits_the_photometric_interpretation(exam, tmp_path, monochrome1, photometric, shape):
    # PS3.3 C.8.11.3.1.2: INVERSE with MONOCHROME1, IDENTITY with MONOCHROME2
    dataset = pydicom.dcmread(write_dicom(exam, tmp_path, monochrome1=monochrome1)[0])
    assert (dataset.PhotometricInterpretation, dataset.PresentationLUTShape) == (photometric, shape)


def test_spacing_is_that_of_a_35_cm_detector(exam, tmp_path):
    dataset = pydicom.dcmread(write_dicom(exam, tmp_path)[0])
    assert [float(mm) for mm in dataset.ImagerPixelSpacing] == [1.75, 1.75]  # 350 mm over 200 columns


def test_uids_are_valid_and_patient_is_fictitious(exam, tmp_path):
    for path in write_dicom(exam, tmp_path):
        dataset = pydicom.dcmread(path)
        assert all(
            uid.is_valid
            for uid in (dataset.SOPInstanceUID, dataset.StudyInstanceUID, dataset.SeriesInstanceUID)
        )
        assert str(dataset.PatientName).startswith("PHANTOM^")
        assert (dataset.PatientAge, dataset.PatientSex) == ("063Y", "F")


@pytest.mark.slow
def test_default_files_use_every_syntax_and_both_photometrics(tmp_path):
    encodings = set()
    for seed in range(8):
        exam = render_exam(seed, rows=80, columns=64)
        dataset = pydicom.dcmread(write_dicom(exam, tmp_path)[0])
        encodings |= {dataset.file_meta.TransferSyntaxUID.keyword, dataset.PhotometricInterpretation}
    assert encodings == {
        "ExplicitVRLittleEndian",
        "JPEGLSLossless",
        "RLELossless",
        "MONOCHROME1",
        "MONOCHROME2",
    }


def test_frontal_view_is_first(exam, tmp_path):
    assert [path.stem for path in write_dicom(exam, tmp_path)] == ["phantom-0004-pa", "phantom-0004-ll"]
    assert [image.view for image in exam.images] == [View.PA, View.LATERAL]
