"""Reads a folder in the layout of MIMIC-CXR: report texts, the metadata table, and CheXpert's labels.

``files/p10/p10000032/s50414267.txt`` is the report of a study. ``mimic-cxr-2.0.0-metadata.csv`` lists its
images, ``mimic-cxr-2.0.0-chexpert.csv`` its labels: 1 present, 0 absent, -1 uncertain, empty not mentioned.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from domain.errors import InvalidValue
from domain.problems import Refusal
from domain.vocabulary import View
from generation.source_exams import CodedFinding, CodeSystem, ReportSections, SourceExam, SourceImage
from generation.sources.sections import split_report
from generation.sources.tables import find_table, read_csv

_METADATA, _LABELS = "mimic-cxr-2.0.0-metadata", "mimic-cxr-2.0.0-chexpert"
_REPORT_PATH = re.compile(r"p\d\d/p(\d+)/s(\d+)\.txt$")
_VIEWS = {"PA": View.PA, "AP": View.AP, "LATERAL": View.LATERAL, "LL": View.LATERAL, "": View.UNKNOWN}
_PRESENCE_BY_LABEL_VALUE = {"1.0": True, "1": True, "0.0": False, "0": False}


def read_mimic(folder: Path) -> Iterator[SourceExam | Refusal]:
    """Yield the exams of all report texts below ``files/``, ordered by path.

    Args:
        folder: the folder with ``files/`` and the tables, which may be compressed with gzip. The table of
            labels is optional.

    Raises:
        InvalidValue: reports or the metadata table are missing.
    """
    paths = sorted((folder / "files").glob("p*/p*/s*.txt"))
    metadata = find_table(folder, _METADATA)
    if not paths:
        raise InvalidValue("source", f"{folder} contains no report files/p*/p*/s*.txt")
    if metadata is None:
        raise InvalidValue("source", f"{folder} does not contain {_METADATA}.csv or .csv.gz")
    images: dict[str, list[SourceImage]] = defaultdict(list)
    for _, row in read_csv(metadata, required=("dicom_id", "subject_id", "study_id", "ViewPosition")):
        subject, study, name = row["subject_id"], row["study_id"], row["dicom_id"]
        images[study].append(
            SourceImage(
                id=name,
                file=f"files/p{subject[:2]}/p{subject}/s{study}/{name}.jpg",
                view=_VIEWS.get(row["ViewPosition"].strip().upper(), View.OTHER),
            )
        )
    codes = _read_labels(find_table(folder, _LABELS))
    for path in paths:
        relative_path = path.relative_to(folder).as_posix()
        match = _REPORT_PATH.search(relative_path)
        try:
            if match is None:
                raise InvalidValue("path", "must be like p10/p10000032/s50414267.txt")
            subject, study = match.groups()
            yield SourceExam(
                id=f"s{study}",
                patient=f"p{subject}",
                file=relative_path,
                record="",
                images=tuple(images.get(study, [])),
                report=_read_report(path),
                codes=tuple(codes.get(study, [])),
            )
        except InvalidValue as error:
            yield Refusal(file=relative_path, record="", field=error.field, reason=error.reason)


def _read_report(path: Path) -> ReportSections:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidValue("report", f"is not UTF-8: {error.reason} at byte {error.start}") from error
    return split_report(text)


def _read_labels(path: Path | None) -> dict[str, list[CodedFinding]]:
    labels: dict[str, list[CodedFinding]] = defaultdict(list)
    if path is None:
        return labels
    for _, row in read_csv(path, required=("subject_id", "study_id")):
        for name, value in row.items():
            if (
                name not in {"subject_id", "study_id", "No Finding"}
                and value.strip() in _PRESENCE_BY_LABEL_VALUE
            ):
                labels[row["study_id"]].append(
                    CodedFinding(
                        system=CodeSystem.LABEL, code=name, present=_PRESENCE_BY_LABEL_VALUE[value.strip()]
                    )
                )
    return labels
