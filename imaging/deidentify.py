"""De-identification of image files, for ``cli.py deidentify`` and for workspaces that de-identify on import.

A DICOM file is rewritten: the Basic Profile (imaging/profile.py) is applied, the preamble is emptied, the
meta information is replaced, and the pixel data is reduced to the pixels themselves. All metadata of a PNG or
JPEG file is removed (imaging/metadata.py). Burned-in text is not removed; a person must look for it.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace

import numpy as np
from pydicom import Dataset
from pydicom.dataset import FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.filewriter import dcmwrite
from pydicom.sequence import Sequence
from pydicom.uid import (
    JPEG2000,
    UID,
    DeflatedExplicitVRLittleEndian,
    ExplicitVRLittleEndian,
    JPEG2000Lossless,
)

from domain.vocabulary import View
from imaging import dicom, raster
from imaging.dicom_file import DAMAGED_HEADER_ERRORS, attribute_name, parse, parse_all
from imaging.dicom_rules import join_fragments
from imaging.dicom_stored_header import cap_age, read_stored_header
from imaging.errors import UnreadableImage, describe_damage
from imaging.metadata import strip_jpeg_2000_comments, strip_jpeg_metadata, strip_metadata
from imaging.profile import EDITION, apply_profile
from imaging.pseudonyms import PseudonymKey
from imaging.radiograph import ImageFacts

#: UID of this software as the writer of a file (PS3.7 D.3.3.2), under the root 2.25.
_IMPLEMENTATION = UID("2.25.211935726105712304187354090826193647125")
_METHOD = f"DICOM PS3.15 Basic Profile {EDITION}, by Overread, key"
# PS3.16 CID 7050
_BASIC_PROFILE = ("113100", "DCM", "Basic Application Confidentiality Profile")
_VIEW_POSITIONS = {View.PA: "PA", View.AP: "AP", View.LATERAL: "LATERAL"}
_JPEG_2000 = {
    JPEG2000, JPEG2000Lossless, UID("1.2.840.10008.1.2.4.201"), UID("1.2.840.10008.1.2.4.202"),
    UID("1.2.840.10008.1.2.4.203"),
}  # fmt: skip
_RLE = UID("1.2.840.10008.1.2.5")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeidentifiedFile:
    """A de-identified file.

    ``content`` is the whole file. ``facts`` describe it, with age (at most "090Y") and sex of the original
    header. ``notes`` are sentences for the user.
    """

    content: bytes
    facts: ImageFacts
    notes: tuple[str, ...] = ()


def deidentify(content: bytes, *, name: str, key: PseudonymKey) -> DeidentifiedFile:
    """De-identify one image file.

    The same file and key give the same bytes. A file that was already de-identified with this key keeps its
    patient and UIDs. DICOM pixel values are not changed. Bits above Bits Stored (0028,0101) are cleared,
    because old files keep overlays there.

    Args:
        content: the whole file, DICOM, PNG or JPEG.
        name: the file name, used in error messages.
        key: the key for the pseudonyms of the patient and the UIDs.

    Raises:
        UnreadableImage: the file is not a radiograph that can be shown, its header is damaged, or its
            compressed pixels contain an overlay.
    """
    from imaging.reader import describe  # noqa: PLC0415 - avoids a circular import

    facts = describe(content, name=name, key=key)
    if raster.is_raster(content):
        orientation = raster.read_orientation(content, name=name)
        cleaned = strip_metadata(content, name=name, orientation=orientation)
        return DeidentifiedFile(content=cleaned, facts=describe(cleaned, name=name, key=key))
    try:
        cleaned, notes = _deidentify_dicom(content, name=name, key=key)
    except DAMAGED_HEADER_ERRORS as error:
        raise UnreadableImage(name, f"its DICOM header is damaged ({describe_damage(error)}).") from error
    new_facts = dicom.describe(cleaned, name=name, key=key)
    age = cap_age(facts.age)
    return DeidentifiedFile(content=cleaned, facts=replace(new_facts, age=age, sex=facts.sex), notes=notes)


def _deidentify_dicom(content: bytes, *, name: str, key: PseudonymKey) -> tuple[bytes, tuple[str, ...]]:
    header = parse(content, name=name)
    dataset = parse_all(content, name=name)
    already_deidentified = _was_deidentified_with(dataset, key)
    kept_identifiers = {
        keyword: str(dataset[keyword].value)
        for keyword in ("PatientID", "StudyInstanceUID", "SeriesInstanceUID", "SOPInstanceUID")
        if already_deidentified and keyword in dataset and dataset[keyword].value
    }
    patient_id = str(header.get("PatientID") or "").strip(" \0")
    burned_in = str(dataset.get("BurnedInAnnotation") or "").strip().upper() == "YES"
    _write_pixels(dataset, header, name=name)
    view = read_stored_header(header, key=key).view
    apply_profile(dataset, key=key)
    dataset.PatientID = key.pseudonymize_patient_id(patient_id) if patient_id else ""
    for keyword, value in kept_identifiers.items():
        setattr(dataset, keyword, value)
    if not dataset.get("ViewPosition") and view in _VIEW_POSITIONS:
        dataset.ViewPosition = _VIEW_POSITIONS[view]  # known from the series description, which was removed
    _record_deidentification(dataset, key)
    notes = ("The header states that the image has burned-in text.",) if burned_in else ()
    return _encode_file(dataset, header), notes


def _was_deidentified_with(dataset: Dataset, key: PseudonymKey) -> bool:
    methods = dataset.get("DeidentificationMethod") or ""
    method_list = [methods] if isinstance(methods, str) else list(methods)
    return f"{_METHOD} {key.fingerprint()}" in method_list and str(dataset.get("PatientID", "")).startswith(
        "patient-"
    )


def _record_deidentification(dataset: Dataset, key: PseudonymKey) -> None:
    """Write the attributes that state how the patient's identity was removed (PS3.15 E.1.1)."""
    dataset.PatientIdentityRemoved = "YES"
    dataset.DeidentificationMethod = f"{_METHOD} {key.fingerprint()}"
    code = Dataset()
    code.CodeValue, code.CodingSchemeDesignator, code.CodeMeaning = _BASIC_PROFILE
    dataset.DeidentificationMethodCodeSequence = Sequence([code])
    dataset.LongitudinalTemporalInformationModified = "REMOVED"


def _write_pixels(dataset: Dataset, header: Dataset, *, name: str) -> None:
    """Reduce the pixel data to its pixels: remove unused bits, comments and what follows the frame."""
    syntax = UID(str(header.file_meta.TransferSyntaxUID))
    if not syntax.is_encapsulated:
        dataset["PixelData"].value = _clear_unused_bits(dataset, little_endian=syntax.is_little_endian)
        return
    if any(element.tag.group in range(0x6000, 0x6100) and element.tag.element == 0x0102 and element.value
           for element in dataset):  # fmt: skip
        raise UnreadableImage(
            name, "the overlay is part of the compressed pixels and can't be removed.",
            attribute="OverlayBitPosition (60xx,0102)",
        )  # fmt: skip
    frame = join_fragments(header)
    try:
        if syntax in _JPEG_2000:
            frame = strip_jpeg_2000_comments(frame)
        elif syntax != _RLE:
            frame = strip_jpeg_metadata(frame)
    except (IndexError, ValueError) as error:
        reason = f"has an invalid structure, so its metadata can't be removed ({describe_damage(error)})."
        raise UnreadableImage(name, reason, attribute=attribute_name("PixelData")) from error
    dataset["PixelData"].value = encapsulate([frame])
    for keyword in ("ExtendedOffsetTable", "ExtendedOffsetTableLengths"):
        if keyword in dataset:
            del dataset[keyword]


def _clear_unused_bits(dataset: Dataset, *, little_endian: bool) -> bytes:
    """Return the pixel data without the bits above Bits Stored, which may hold overlays (PS3.5 8.1.2)."""
    data: bytes = dataset.PixelData
    allocated, stored = int(dataset.BitsAllocated), int(dataset.BitsStored)
    if allocated == stored:
        return data
    unsigned = np.frombuffer(data, f"{'<' if little_endian else '>'}u{allocated // 8}")
    if int(dataset.PixelRepresentation) == 0:
        return (unsigned & ((1 << stored) - 1)).astype(unsigned.dtype).tobytes()
    shift = allocated - stored
    signed_type = unsigned.dtype.str.replace("u", "i")
    shifted = (unsigned << shift).astype(unsigned.dtype).view(signed_type) >> shift  # restores the sign
    return shifted.astype(signed_type).tobytes()


def _encode_file(dataset: Dataset, header: Dataset) -> bytes:
    syntax = UID(str(header.file_meta.TransferSyntaxUID))
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = UID(dataset.get("SOPClassUID") or "")
    meta.MediaStorageSOPInstanceUID = dataset.get("SOPInstanceUID") or _IMPLEMENTATION
    meta.TransferSyntaxUID = ExplicitVRLittleEndian if syntax == DeflatedExplicitVRLittleEndian else syntax
    meta.ImplementationClassUID = _IMPLEMENTATION
    meta.ImplementationVersionName = "OVERREAD"
    dataset.file_meta = meta
    dataset.preamble = bytes(128)
    if not syntax.is_encapsulated:
        is_word_data = int(dataset.BitsAllocated) > 8 or syntax.is_implicit_VR
        dataset["PixelData"].VR = "OW" if is_word_data else "OB"
    out = io.BytesIO()
    dcmwrite(out, dataset, enforce_file_format=True)
    return out.getvalue()
