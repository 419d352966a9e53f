"""``croissant.json``: the release described in Croissant 1.1 (docs.mlcommons.org/croissant).

Every file except the images is listed with its SHA-256. The record set describes ``gold.parquet``, whose
columns exist even if no question has a value, and whose texts stay texts. Programs that read JSON Lines with
pandas convert the id "007" to 7 and fail on columns without values. Without that file there is no record set;
with the splits train, valid and test there is one per split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from release.manifest import VERSION, Entry

_CONFORMS = "http://mlcommons.org/croissant/1.1"
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataBiases": "cr:dataBiases",
    "dataCollection": "cr:dataCollection",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "personalSensitiveInformation": "cr:personalSensitiveInformation",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_MEDIA_TYPES = {
    ".jsonl": "application/jsonlines",
    ".json": "application/json",
    ".csv": "text/csv",
    ".parquet": "application/x-parquet",
    ".md": "text/markdown",
    ".dcm": "application/dicom",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
}
_TEXT, _INTEGER = "sc:Text", "sc:Integer"


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the Parquet file. ``is_list`` is True if its values are lists of the data type."""

    name: str
    description: str
    data_type: str = _TEXT
    is_list: bool = False


_COLUMNS = (
    _Column("id", "The question's id within its dataset."),
    _Column("exam_id", "The id of the exam with the images of the question."),
    _Column("format", "closed, single, multiple or open."),
    _Column("stem", "What is asked."),
    _Column("options", "The texts of the options; none for closed and open questions.", is_list=True),
    _Column("answer", "The indices of the correct options, counted from 0.", _INTEGER, is_list=True),
    _Column("answer_text", "The answer key as text, with the letters of the options."),
    _Column("explanation", "Why the answer is right."),
    _Column("task", "One of five: presence, location, negation, differential, geometric."),
    _Column("content_type", "What the source calls the kind of content."),
    _Column("category", "As the source has it, or as corrected."),
    _Column("subcategory", "As the source has it, or as corrected."),
    _Column("difficulty", "easy, medium or hard."),
)
_RECORDS_FILE = "gold.parquet"


def render_croissant(
    *, name: str, dataset: str, last_verdict_at: str | None, questions: int, files: Sequence[Entry]
) -> bytes:
    """Return the content of ``croissant.json``.

    Args:
        name: the name of the release.
        dataset: the name of the dataset.
        last_verdict_at: the time of the latest verdict, ISO 8601 in UTC; None without verdicts.
        questions: the number of released questions.
        files: all files of the release except ``croissant.json`` and the manifest.
    """
    description: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": f"{dataset} {name}",
        "description": (
            f"{questions} questions on chest radiographs from the dataset {dataset}, machine-written and "
            f"accepted or corrected by radiologists. Release {name}, made with Overread {VERSION}."
        ),
        "conformsTo": _CONFORMS,
        "version": VERSION,
        **({"datePublished": last_verdict_at[:10]} if last_verdict_at else {}),
        "distribution": [
            _build_file_object(entry) for entry in files if not entry.path.startswith("images/")
        ],
    }
    record_sets = [
        _build_record_set(entry.path.rpartition("/")[0] or "questions", entry.path)
        for entry in files
        if entry.path.rpartition("/")[2] == _RECORDS_FILE
    ]
    if record_sets:
        description["recordSet"] = record_sets
    return msgspec.json.format(msgspec.json.encode(description), indent=2) + b"\n"


def _build_file_object(entry: Entry) -> dict[str, Any]:
    suffix = entry.path[entry.path.rfind(".") :]
    return {
        "@type": "cr:FileObject",
        "@id": entry.path,
        "name": entry.path,
        "contentUrl": entry.path,
        "contentSize": f"{entry.bytes} B",
        "encodingFormat": _MEDIA_TYPES.get(suffix, "application/octet-stream"),
        "sha256": entry.sha256,
    }


def _build_record_set(name: str, path: str) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": "One record a question, with its corrections in it.",
        "key": {"@id": f"{name}/id"},
        "field": [_build_field_object(column, record_set=name, path=path) for column in _COLUMNS],
    }


def _build_field_object(column: _Column, *, record_set: str, path: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{record_set}/{column.name}",
        "name": column.name,
        "description": column.description,
        "dataType": column.data_type,
        **({"isArray": True, "arrayShape": "-1"} if column.is_list else {}),
        "source": {"fileObject": {"@id": path}, "extract": {"column": column.name}},
    }
