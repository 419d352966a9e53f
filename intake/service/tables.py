"""Services for tables of unknown columns: read their first rows, and suggest and try a mapping."""

from __future__ import annotations

import re
from collections.abc import Mapping as MappingType
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from domain.errors import DomainError, InvalidValue, NotFound
from domain.people import Action, Person, require
from domain.questions import Question
from intake.mapping.declaration import Input, Mapping, load_mapping, write_mapping
from intake.mapping.reader import MappingReader
from intake.mapping.sample import TableSample, read_sample
from intake.mapping.suggestions import (
    FIELD_NAMES,
    REQUIRED_FIELDS,
    LayoutIssue,
    build_mapping,
    find_builtin_mapping,
    find_layout_issues,
    guess_columns,
)
from intake.mapping.templates import KINDS, build_template
from intake.rules import record_to_question
from storage.workspace import Workspace

__all__ = [
    "FIELD_NAMES",
    "KINDS",
    "REQUIRED_FIELDS",
    "LayoutIssue",
    "TableSample",
    "TriedRecord",
    "build_template",
    "create_mapping",
    "find_builtin_mapping",
    "find_layout_issues",
    "guess_columns",
    "list_saved_mappings",
    "load_sample",
    "load_saved_mapping",
    "save_mapping",
    "try_mapping",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedRecord:
    """A record, and the question that a mapping creates from it, or the reason why there is none."""

    record: Any
    question: Question | None
    reason: str


def load_sample(*, by: Person, path: Path) -> TableSample:
    """Read the first records of a table or JSON file.

    Args:
        by: the acting person.
        path: the file.

    Raises:
        InvalidValue: the file is not a table or JSON file, or has no records.
        Refused: reading the file needed too much time or memory.
    """
    require(by, Action.IMPORT_QUESTIONS)
    return read_sample(path)


def create_mapping(
    name: str,
    columns: MappingType[str, tuple[str, ...]],
    fixes: MappingType[str, str],
    input_settings: Input | None = None,
) -> Mapping:
    """Create a mapping from the chosen columns and fixes, with the text of its file.

    Args:
        name: the name of the mapping.
        columns: the columns of each field.
        fixes: the chosen fix by name of the layout issue.
        input_settings: how the file is read, from its sample.

    Raises:
        InvalidValue: a field that every question needs has no column.
    """
    content = build_mapping(name, columns, fixes, input_settings)
    return load_mapping(write_mapping(content), f"{content.name}.toml")


def save_mapping(workspace: Workspace, *, by: Person, mapping: Mapping) -> str:
    """Save a mapping file in the workspace, for later imports and for download.

    Args:
        workspace: the workspace in which the file is saved.
        by: the acting person.
        mapping: the mapping to save; a saved mapping with the same file name is replaced.

    Returns:
        The name of the file.

    Raises:
        OSError: the file could not be written.
    """
    require(by, Action.IMPORT_QUESTIONS)
    slug = re.sub(r"[^A-Za-z0-9]+", "-", mapping.content.name).strip("-") or "mapping"
    name = f"{slug}.toml"
    workspace.mappings.mkdir(parents=True, exist_ok=True)
    temporary = workspace.mappings / f".{name}.new"
    temporary.write_text(mapping.text, encoding="utf-8")
    temporary.replace(workspace.mappings / name)
    return name


def list_saved_mappings(workspace: Workspace, *, by: Person) -> list[str]:
    """Return the sorted names of the mapping files in a workspace.

    Args:
        workspace: the workspace that has the files.
        by: the acting person.
    """
    require(by, Action.IMPORT_QUESTIONS)
    return sorted(path.name for path in workspace.mappings.glob("[!.]*.toml"))


def load_saved_mapping(workspace: Workspace, *, by: Person, name: str) -> Mapping:
    """Load a mapping file of a workspace.

    Args:
        workspace: the workspace that has the file.
        by: the acting person.
        name: the name of the file.

    Raises:
        NotFound: no mapping file has this name.
        InvalidValue: the mapping is not valid.
    """
    if name not in list_saved_mappings(workspace, by=by):
        raise NotFound("This mapping file does not exist.")
    return load_mapping((workspace.mappings / name).read_text(encoding="utf-8"), name)


def try_mapping(sample: TableSample, mapping: Mapping, *, file_stem: str, count: int) -> list[TriedRecord]:
    """Convert the first records of a sample with a mapping that reads no second files.

    Args:
        sample: the sample of the file.
        mapping: the mapping to try.
        file_stem: the user's name of the file, without its extension.
        count: the number of records.
    """
    reader = MappingReader(mapping, file_stem, {})
    tried_records = []
    for name, record in zip(sample.names[:count], sample.records[:count], strict=True):
        question, reason = None, ""
        try:
            native = reader.read(name, msgspec.json.encode(record))
            question = record_to_question(native) if native else None
            reason = "" if native else "is left out by the filter"
        except InvalidValue as error:
            reason = f"{error.field}: {error.reason}"
        except DomainError as error:
            reason = str(error)
        tried_records.append(TriedRecord(record=record, question=question, reason=reason))
    return tried_records
