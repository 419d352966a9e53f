"""Reads Indiana University's collection (Open-i): its XML files, or the CSV tables made from them.

Radiologists and a librarian coded each report with MeSH and RadLex terms; see Demner-Fushman D et al., J Am
Med Inform Assoc 2016;23:304-310. ``XXXX`` replaces words that were removed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

from domain.errors import InvalidValue
from domain.problems import Refusal
from domain.vocabulary import View
from generation.source_exams import CodedFinding, CodeSystem, ReportSections, SourceExam, SourceImage
from generation.sources.sections import join_lines
from generation.sources.tables import read_csv

REPORTS, PROJECTIONS = "indiana_reports.csv", "indiana_projections.csv"
_REPORT_COLUMNS = ("uid", "MeSH", "indication", "comparison", "findings", "impression")
#: Codes that state no finding.
_NOT_FINDINGS = {"", "normal", "no indexing"}
_VIEW_WORD = re.compile(r"\b(PA|AP)\b")


def read_openi_csv(folder: Path) -> Iterator[SourceExam | Refusal]:
    """Yield the exams of ``indiana_reports.csv`` with the images of ``indiana_projections.csv``.

    Args:
        folder: the folder that contains both.

    Raises:
        InvalidValue: a table or a column is missing.
    """
    for name in (REPORTS, PROJECTIONS):
        if not (folder / name).is_file():
            raise InvalidValue("source", f"{folder} does not contain {name}")
    images: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for _, row in read_csv(folder / PROJECTIONS, required=("uid", "filename", "projection")):
        images[row["uid"].strip()].append((row["filename"].strip(), row["projection"].strip().casefold()))
    for line, row in read_csv(folder / REPORTS, required=_REPORT_COLUMNS):
        uid = row["uid"].strip()
        words = set(_VIEW_WORD.findall(row.get("image", "")))
        frontal = View(words.pop()) if len(words) == 1 else View.UNKNOWN
        try:
            if not uid:
                raise InvalidValue("uid", "is empty")
            yield SourceExam(
                id=f"CXR{uid}",
                file=REPORTS,
                record=f"line {line}, uid {uid}",
                images=tuple(
                    SourceImage(
                        id=file.split(".")[0],
                        file=file,
                        view=View.LATERAL if projection == "lateral" else frontal,
                    )
                    for file, projection in images.get(uid, [])
                ),
                report=ReportSections(
                    **{
                        name: join_lines(row[name])
                        for name in ("indication", "comparison", "findings", "impression")
                    }
                ),
                codes=parse_mesh(row["MeSH"].split(";")),
            )
        except InvalidValue as error:
            yield Refusal(
                file=REPORTS, record=f"line {line}, uid {uid}", field=error.field, reason=error.reason
            )


def read_openi_xml(folder: Path) -> Iterator[SourceExam | Refusal]:
    """Yield the exams of the XML files in a folder, ordered by name. The images have no view.

    Raises:
        InvalidValue: there is no XML file.
    """
    paths = sorted(folder.glob("*.xml"))
    if not paths:
        raise InvalidValue("source", f"{folder} contains no XML file")
    for path in paths:
        try:
            yield _parse_xml(path)
        except InvalidValue as error:
            yield Refusal(file=path.name, record="", field=error.field, reason=error.reason)


def parse_mesh(terms: list[str]) -> tuple[CodedFinding, ...]:
    """Convert MeSH terms such as ``Opacity/lung/base/left`` to codes, without "normal" and "No Indexing"."""
    return tuple(
        CodedFinding(system=CodeSystem.MESH, code=term.strip())
        for term in terms
        if term.strip().casefold() not in _NOT_FINDINGS
    )


def _parse_xml(path: Path) -> SourceExam:
    raw = path.read_bytes()
    if b"<!DOCTYPE" in raw or b"<!ENTITY" in raw:
        raise InvalidValue("file", "declares a document type or entities, which Open-i files do not have")
    try:
        root = ET.fromstring(raw)  # noqa: S314 - entities are refused above
    except ET.ParseError as error:
        raise InvalidValue("file", f"is not valid XML: {error}") from error
    identifier = root.find("uId")
    if identifier is None or not identifier.get("id"):
        raise InvalidValue("uId", "is missing")
    texts = {
        (element.get("Label") or "").casefold(): join_lines("".join(element.itertext()))
        for element in root.iter("AbstractText")
    }
    if not texts:
        raise InvalidValue("AbstractText", "is missing: the file contains no report")
    image_ids = [image.get("id") or "" for image in root.iter("parentImage")]
    return SourceExam(
        id=identifier.get("id") or "",
        file=path.name,
        record="",
        images=tuple(SourceImage(id=image_id, file=f"{image_id}.png") for image_id in image_ids if image_id),
        report=ReportSections(
            **{name: texts.get(name, "") for name in ("indication", "comparison", "findings", "impression")}
        ),
        codes=parse_mesh([element.text or "" for element in root.iterfind("MeSH/major")]),
    )
