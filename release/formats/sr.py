"""``sr/*.dcm``: boxes as DICOM structured reports (TID 1500), one per radiograph that was imported as DICOM.

A box is a closed polyline in a SCOORD item. The origin is the outer corner of the top-left pixel (PS3.3
C.18.6), as in :class:`domain.boxes.Box`. UIDs are derived from the content, so the same release gives the
same files.
"""

from __future__ import annotations

import warnings
from collections import Counter
from datetime import datetime
from enum import StrEnum
from io import BytesIO
from pathlib import Path

import numpy as np
from highdicom import PatientSexValues
from highdicom.sr import (
    ComprehensiveSR,
    DeviceObserverIdentifyingAttributes,
    FindingSite,
    GraphicTypeValues,
    ImageRegion,
    MeasurementReport,
    ObservationContext,
    ObserverContext,
    PlanarROIMeasurementsAndQualitativeEvaluations,
    SourceImageForRegion,
    TrackingIdentifier,
)
from highdicom.sr.coding import CodedConcept
from pydicom import Dataset
from pydicom.sr.codedict import codes
from pydicom.uid import generate_uid
from pydicom.valuerep import DA, TM

from domain.boxes import LabelledBox
from domain.exams import Radiograph
from domain.file_errors import add_filename_to_errors
from domain.gold import GoldItem
from imaging.dicom_file import DAMAGED_HEADER_ERRORS, is_dicom, parse_all
from imaging.errors import UnreadableImage
from release.folder import HashedFile
from release.formats.format_writer import FormatWriter, OriginalLoader
from release.formats.sr_codes import code_label
from release.manifest import VERSION, Entry

_CHEST_X_RAY = CodedConcept("399208008", "SCT", "Plain chest X-ray")
_REQUIRED_UIDS = ("SOPClassUID", "SOPInstanceUID", "StudyInstanceUID", "SeriesInstanceUID")


class SrExclusionReason(StrEnum):
    """Why there is no structured report of a radiograph with boxes. The manifest has the counts."""

    NO_IMAGE = "left out: the workspace has no image of it"
    NOT_DICOM = "left out: the image did not come as DICOM"
    NO_UIDS = "left out: the DICOM file lacks a UID that a report must name"


class SrWriter(FormatWriter):
    """Writes one structured report per radiograph with boxes."""

    name = "sr"

    def __init__(self, folder: Path, *, load_original: OriginalLoader, content_date: datetime) -> None:
        """``content_date`` is the date and time of the reports' content, in UTC."""
        super().__init__(folder)
        self._load_original, self._content_date = load_original, content_date
        self._boxes: dict[str, tuple[Radiograph, list[tuple[str, LabelledBox]]]] = {}
        self._entries: list[Entry] = []
        self.excluded_radiographs: Counter[SrExclusionReason] = Counter()

    def add(self, gold: GoldItem) -> None:
        for box in gold.question.boxes:
            radiograph = gold.judged.exam.find_radiograph(box.radiograph)
            key = radiograph.sha256 or f"{gold.judged.exam.id}\0{radiograph.id}"
            self._boxes.setdefault(key, (radiograph, []))[1].append((gold.question.id, box))

    def finish(self) -> None:
        for key, (radiograph, boxes) in sorted(self._boxes.items(), key=lambda item: item[0]):
            source = self._load_source(radiograph)
            if isinstance(source, SrExclusionReason):
                self.excluded_radiographs[source] += 1
                continue
            (self._folder / "sr").mkdir(exist_ok=True)
            name = f"sr/{key}.dcm"
            path = self._folder / name
            with add_filename_to_errors(path), HashedFile(path) as file:
                file.write(_render_report(source, boxes, content_date=self._content_date))
            self._entries.append(Entry(path=name, bytes=file.bytes, sha256=file.sha256))

    def list_entries(self) -> list[Entry]:
        return self._entries

    def _load_source(self, radiograph: Radiograph) -> Dataset | SrExclusionReason:
        content = self._load_original(radiograph)
        if content is None:
            return SrExclusionReason.NO_IMAGE
        if not is_dicom(content):
            return SrExclusionReason.NOT_DICOM
        try:
            source = parse_all(content, name=radiograph.file)
            has_uids = all(source.get(name) for name in _REQUIRED_UIDS)
        except (UnreadableImage, *DAMAGED_HEADER_ERRORS):  # damaged since the import
            return SrExclusionReason.NOT_DICOM
        return source if has_uids else SrExclusionReason.NO_UIDS


def _render_report(source: Dataset, boxes: list[tuple[str, LabelledBox]], *, content_date: datetime) -> bytes:
    """Return one structured report as the content of a DICOM file."""
    seed = [str(source.SOPInstanceUID), VERSION, content_date.isoformat()]
    seed += [f"{question_id}\0{box.label}\0{box.box.as_tuple()}" for question_id, box in boxes]
    _complete_header(source)
    content = MeasurementReport(
        observation_context=ObservationContext(
            ObserverContext(
                observer_type=codes.DCM.Device,
                observer_identifying_attributes=DeviceObserverIdentifyingAttributes(
                    uid=generate_uid(entropy_srcs=["overread", VERSION]),
                    name="Overread",
                    manufacturer_name="Overread",
                    model_name=f"Overread {VERSION}",
                ),
            )
        ),
        procedure_reported=_CHEST_X_RAY,
        imaging_measurements=[
            _build_region(source, question_id, box, uid=generate_uid(entropy_srcs=[*seed, "box", str(index)]))
            for index, (question_id, box) in enumerate(boxes)
        ],
    )
    report = ComprehensiveSR(
        evidence=[source],
        content=content[0],
        series_instance_uid=generate_uid(entropy_srcs=[*seed, "series"]),
        series_number=1,
        sop_instance_uid=generate_uid(entropy_srcs=[*seed, "instance"]),
        instance_number=1,
        manufacturer="Overread",
        is_complete=True,
        specific_character_set="ISO_IR 192",  # labels may have any character, whatever the source's set is
    )
    for prefix in ("Content", "InstanceCreation", "Series"):  # the writing time would make files differ
        if f"{prefix}Date" in report or prefix == "Content":
            setattr(report, f"{prefix}Date", content_date.strftime("%Y%m%d"))
            setattr(report, f"{prefix}Time", content_date.strftime("%H%M%S"))
    for equipment in report.get("ContributingEquipmentSequence", []):
        equipment.ContributionDateTime = content_date.strftime("%Y%m%d%H%M%S")
    target = BytesIO()
    report.save_as(target)
    return target.getvalue()


def _complete_header(source: Dataset) -> None:
    """Empty the attributes of patient and study that are missing or not valid.

    They are of type 2: required, but they may be empty (PS3.5 7.4.3). Archives have dates such as "2004/1/1"
    and sexes such as "U", which must not be copied into another file.
    """
    for name in ("PatientID", "PatientName", "StudyID", "AccessionNumber", "ReferringPhysicianName"):
        if name not in source:
            setattr(source, name, "")
    with warnings.catch_warnings(action="ignore"):  # pydicom warns of values that are emptied here
        for name, value_type in (("PatientBirthDate", DA), ("StudyDate", DA), ("StudyTime", TM)):
            try:
                value_type(source.get(name))
                is_valid = bool(source.get(name))
            except DAMAGED_HEADER_ERRORS:
                is_valid = False
            if not is_valid:
                setattr(source, name, "")
    if source.get("PatientSex") not in {sex.value for sex in PatientSexValues}:
        source.PatientSex = ""


def _build_region(
    source: Dataset, question_id: str, labelled_box: LabelledBox, *, uid: str
) -> PlanarROIMeasurementsAndQualitativeEvaluations:
    box = labelled_box.box
    corners = [
        (box.x_min, box.y_min),
        (box.x_max, box.y_min),
        (box.x_max, box.y_max),
        (box.x_min, box.y_max),
        (box.x_min, box.y_min),
    ]
    label = code_label(labelled_box.label)
    return PlanarROIMeasurementsAndQualitativeEvaluations(
        tracking_identifier=TrackingIdentifier(uid=uid, identifier=f"question {question_id}"),
        referenced_region=ImageRegion(
            graphic_type=GraphicTypeValues.POLYLINE,
            graphic_data=np.array(corners, float),
            source_image=SourceImageForRegion(
                referenced_sop_class_uid=source.SOPClassUID, referenced_sop_instance_uid=source.SOPInstanceUID
            ),
        ),
        finding_type=label.finding,
        finding_sites=[FindingSite(anatomic_location=label.site, laterality=label.laterality)],
    )
