"""Phantom exams as DICOM: Digital X-Ray Image Storage - For Presentation (PS3.3 A.26).

The files do not depend on the clock or the machine: the same exam always gives the same bytes.
"""

import hashlib
import uuid
from enum import StrEnum
from pathlib import Path

import numpy as np
from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
from pydicom.sequence import Sequence
from pydicom.uid import (
    UID,
    DigitalXRayImageStorageForPresentation,
    ExplicitVRLittleEndian,
    JPEGLSLossless,
    RLELossless,
)

from demo.phantom.exam import PhantomExam, PhantomImage
from demo.phantom.exposure import BITS, MAX_VALUE
from demo.phantom.frame import View

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "phantom.overread")
_NAMES = ("ALDER", "BEECH", "CEDAR", "HAZEL", "LINDEN", "MAPLE", "POPLAR", "ROWAN", "WILLOW", "YEW")
# Name, centre and width of the windows; the first is the default (PS3.3 C.11.2.1.2).
_WINDOWS = (
    ("NORMAL", 2048, 4096),
    ("HARDER", 1950, 2900),
    ("SOFTER", 2200, 5400),
    ("MEDIASTINUM", 3000, 1900),
)


class TransferSyntax(StrEnum):
    """The transfer syntaxes of the files; all are lossless."""

    EXPLICIT = "explicit little endian"
    JPEG_LS = "JPEG-LS lossless"
    RLE = "RLE lossless"


# Syntax and encoder. By default, pydicom uses any installed encoder, and the encoders' output bytes differ.
_ENCODERS = {
    TransferSyntax.JPEG_LS: (JPEGLSLossless, "pyjpegls"),
    TransferSyntax.RLE: (RLELossless, "pydicom"),
}


def write_dicom(
    exam: PhantomExam,
    folder: Path,
    *,
    transfer_syntax: TransferSyntax | None = None,
    monochrome1: bool | None = None,
) -> list[Path]:
    """Write the exam's radiographs to ``folder`` (created if missing) and return their paths, frontal first.

    Files are named ``phantom-SEED-pa.dcm`` and ``phantom-SEED-ll.dcm``.

    Args:
        transfer_syntax: None chooses by the seed: mostly uncompressed, some JPEG-LS, some RLE.
        monochrome1: whether low values are bright. None chooses by the seed: one exam in six.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if transfer_syntax is None:
        choice = {3: TransferSyntax.JPEG_LS, 7: TransferSyntax.RLE}
        transfer_syntax = choice.get(exam.seed % 10, TransferSyntax.EXPLICIT)
    is_inverse = exam.seed % 6 == 5 if monochrome1 is None else monochrome1
    paths = []
    for number, image in enumerate(exam.images, start=1):
        path = folder / f"phantom-{exam.seed:04d}-{image.view.lower()}.dcm"
        dataset = _build_dataset(
            exam, image, number=number, is_inverse=is_inverse, transfer_syntax=transfer_syntax
        )
        dataset.save_as(path, enforce_file_format=True)
        paths.append(path)
    return paths


def make_uid(*parts: object) -> UID:
    """A UID that depends only on ``parts``: a name-based UUID under the root 2.25 (PS3.5 B.2)."""
    return UID(f"2.25.{uuid.uuid5(_NAMESPACE, '/'.join(map(str, parts))).int}")


def _build_dataset(
    exam: PhantomExam, image: PhantomImage, *, number: int, is_inverse: bool, transfer_syntax: TransferSyntax
) -> FileDataset:
    content_hash = hashlib.sha256(image.pixels.tobytes()).hexdigest()
    instance_uid = make_uid("image", exam.seed, exam.sex, exam.age, image.view, content_hash)
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = DigitalXRayImageStorageForPresentation
    meta.MediaStorageSOPInstanceUID = instance_uid
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.ImplementationClassUID = make_uid("writer", 1)
    meta.ImplementationVersionName = "OVERREAD_PHANTOM"
    dataset = FileDataset("", {}, file_meta=meta, preamble=b"\0" * 128)
    dataset.SpecificCharacterSet = "ISO_IR 192"
    dataset.SOPClassUID = DigitalXRayImageStorageForPresentation
    dataset.SOPInstanceUID = instance_uid
    _describe_patient(dataset, exam)
    _describe_acquisition(dataset, exam, image, number)
    _describe_pixels(dataset, image, is_inverse)
    if transfer_syntax is not TransferSyntax.EXPLICIT:
        syntax, encoder = _ENCODERS[transfer_syntax]
        dataset.compress(syntax, encoding_plugin=encoder, generate_instance_uid=False)
    return dataset


def _describe_patient(dataset: Dataset, exam: PhantomExam) -> None:
    """Set patient and study. The dates are fictitious and derived from the seed."""
    given_name = "ADA" if exam.sex == "F" else "OTTO"
    dataset.PatientName = f"PHANTOM^{_NAMES[exam.seed % len(_NAMES)]} {given_name}"
    dataset.PatientID = f"PHANTOM-{exam.seed:04d}"
    dataset.PatientBirthDate = ""
    dataset.PatientSex = exam.sex
    dataset.PatientAge = f"{exam.age:03d}Y"
    dataset.PatientIdentityRemoved = "YES"
    dataset.DeidentificationMethod = "Synthetic image, no patient"
    dataset.StudyInstanceUID = make_uid("study", exam.seed, exam.sex, exam.age)
    dataset.StudyID = str(exam.seed)
    dataset.StudyDate = f"2020{1 + exam.seed % 12:02d}{1 + exam.seed % 28:02d}"
    dataset.StudyTime = f"{8 + exam.seed % 9:02d}{exam.seed * 7 % 60:02d}00"
    dataset.AccessionNumber = ""
    dataset.ReferringPhysicianName = ""
    dataset.StudyDescription = "Chest, two views (phantom)"


def _describe_acquisition(dataset: Dataset, exam: PhantomExam, image: PhantomImage, number: int) -> None:
    """Set series, equipment, DX positioning and detector (PS3.3 C.8.11)."""
    is_frontal = image.view is View.PA
    dataset.Modality = "DX"
    dataset.PresentationIntentType = "FOR PRESENTATION"
    dataset.SeriesInstanceUID = make_uid("series", exam.seed, exam.sex, exam.age, image.view)
    dataset.SeriesNumber = number
    dataset.SeriesDescription = "Chest PA" if is_frontal else "Chest lateral"
    dataset.InstanceNumber = 1
    dataset.Manufacturer = "Overread"
    dataset.ManufacturerModelName = "Chest phantom"
    dataset.SoftwareVersions = "1"
    dataset.DeviceSerialNumber = "0"
    dataset.AcquisitionDate = dataset.ContentDate = dataset.StudyDate
    dataset.AcquisitionTime = dataset.ContentTime = dataset.StudyTime
    dataset.ImageType = ["DERIVED", "PRIMARY", ""]
    dataset.AcquisitionNumber = number
    dataset.BodyPartExamined = "CHEST"
    dataset.AnatomicRegionSequence = Sequence([_code_item("51185008", "SCT", "Chest")])
    dataset.ImageLaterality = "U"
    dataset.ViewPosition = str(image.view)
    view = ("272479007", "postero-anterior") if is_frontal else ("399173006", "left lateral")
    dataset.ViewCodeSequence = Sequence([_code_item(view[0], "SCT", view[1])])
    dataset.ViewCodeSequence[0].ViewModifierCodeSequence = Sequence([])
    # row direction: patient's left, or back; column direction: feet
    dataset.PatientOrientation = ["L", "F"] if is_frontal else ["P", "F"]
    dataset.PatientOrientationCodeSequence = Sequence(
        [_code_item("10904000", "SCT", "Orthostatic body position")]
    )
    dataset.PositionerType = "NONE"
    dataset.KVP = "125"
    dataset.DistanceSourceToDetector = "1800"
    dataset.DetectorType = "SCINTILLATOR"
    dataset.DetectorConditionsNominalFlag = "YES"
    dataset.ImagerPixelSpacing = [f"{image.spacing:.6g}"] * 2


def _describe_pixels(dataset: Dataset, image: PhantomImage, is_inverse: bool) -> None:
    """Set the DX image module: 12 bits stored in 16, identity rescale, several windows (PS3.3 C.8.11.3)."""
    pixels = (MAX_VALUE - image.pixels if is_inverse else image.pixels).astype(np.uint16)
    dataset.SamplesPerPixel = 1
    dataset.PhotometricInterpretation = "MONOCHROME1" if is_inverse else "MONOCHROME2"
    dataset.Rows, dataset.Columns = pixels.shape
    dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit = 16, BITS, BITS - 1
    dataset.PixelRepresentation = 0
    dataset.PixelIntensityRelationship = "LOG"
    dataset.PixelIntensityRelationshipSign = 1 if is_inverse else -1
    dataset.RescaleIntercept, dataset.RescaleSlope, dataset.RescaleType = "0", "1", "US"
    dataset.PresentationLUTShape = "INVERSE" if is_inverse else "IDENTITY"
    dataset.LossyImageCompression = "00"
    dataset.BurnedInAnnotation = "YES"  # the side marker; it does not identify a patient
    dataset.WindowCenter = [str(MAX_VALUE - centre if is_inverse else centre) for _, centre, _ in _WINDOWS]
    dataset.WindowWidth = [str(width) for _, _, width in _WINDOWS]
    dataset.WindowCenterWidthExplanation = [name for name, _, _ in _WINDOWS]
    dataset.PixelData = pixels.astype("<u2").tobytes()
    dataset["PixelData"].VR = "OW"


def _code_item(value: str, scheme: str, meaning: str) -> Dataset:
    item = Dataset()
    item.CodeValue, item.CodingSchemeDesignator, item.CodeMeaning = value, scheme, meaning
    return item
