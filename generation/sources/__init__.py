"""The sources of questions: reports, scene graphs and label tables. `load_source` reads any of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from domain.errors import InvalidValue
from domain.problems import Refusal
from generation.regions import RegionSettings
from generation.source_exams import SourceContent, SourceExam
from generation.sources.label_tables import read_chestx_det, read_chexlocalize, read_nih
from generation.sources.mapped_tables import read_mapped_table
from generation.sources.mimic import read_mimic
from generation.sources.openi import read_openi_csv, read_openi_xml
from generation.sources.scene_graphs import count_ignored_regions, read_scene_graphs
from generation.sources.screening import find_reason_to_refuse

#: The reader of each source, by the name of the source.
SOURCES: dict[str, Callable[[Path], Iterator[SourceExam | Refusal]]] = {
    "openi-csv": read_openi_csv,
    "openi-xml": read_openi_xml,
    "mimic-cxr": read_mimic,
    "scene-graphs": read_scene_graphs,
    "nih": read_nih,
    "chestx-det": read_chestx_det,
    "chexlocalize": read_chexlocalize,
    "mapping": read_mapped_table,
}


def load_source(
    name: str,
    path: Path,
    *,
    regions: RegionSettings | None = None,
    report_progress: Callable[[int], None] = lambda _: None,
) -> SourceContent:
    """Load a source. Exams with the same id, and reports that must not be used, are refused.

    Args:
        name: one of ``SOURCES``.
        path: the file or the folder.
        regions: how the boxes of regions are made, for scene graphs; None for the defaults.
        report_progress: called with the number of records after each one.

    Raises:
        InvalidValue: the source is unknown, does not exist, or lacks a file or a column.
    """
    if name not in SOURCES:
        raise InvalidValue("source", f"{name!r} must be one of {', '.join(SOURCES)}")
    if not path.exists():
        raise InvalidValue("source", f"{path} does not exist")
    refusals: list[Refusal] = []
    exams_by_id: dict[str, list[SourceExam]] = defaultdict(list)
    entries = read_scene_graphs(path, settings=regions) if name == "scene-graphs" else SOURCES[name](path)
    for number, entry in enumerate(entries, start=1):
        report_progress(number)
        if isinstance(entry, Refusal):
            refusals.append(entry)
        else:
            exams_by_id[entry.id].append(entry)
    kept_exams = []
    ignored: Counter[str] = Counter(count_ignored_regions(path) if name == "scene-graphs" else {})
    for exams_with_id in exams_by_id.values():
        for exam in exams_with_id:
            reason = (
                ("exam.id", f"{exam.id} has {len(exams_with_id)} reports; keep the valid one")
                if len(exams_with_id) > 1
                else find_reason_to_refuse(exam.report)
            )
            if reason is None:
                kept_exams.append(exam)
            else:
                refusals.append(
                    Refusal(file=exam.file, record=exam.record, field=reason[0], reason=reason[1])
                )
    return SourceContent(exams=tuple(kept_exams), refusals=tuple(refusals), ignored=dict(ignored))
