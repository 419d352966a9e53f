"""Workspaces of commit 1d5f6f1 can be opened and migrated; their releases differ only in known ways.

``at_1d5f6f1/NAME.sqlite.gz`` is a database as that commit left it, ``at_1d5f6f1/NAME/`` the release made from
it then. "forms" holds all four answer formats with boxes on DICOM and PNG exams; "judged" holds corrections
of every field, rejections, two reviewers and an adjudication.
"""

import gzip
import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from accounts.service import command_line_person
from accounts.service.audit_trail import verify_audit
from release.service import ReviewerNaming, verify_release, write_release
from storage.engine import make_engine
from storage.schema import upgrade
from storage.unit_of_work import read_only_session
from storage.workspace import Workspace

STORED_WORKSPACES = Path(__file__).parent / "at_1d5f6f1"
RELEASE_OPTIONS: dict[str, dict[str, Any]] = {
    "forms": {"dataset": "forms"},
    "judged": {"dataset": "demo", "reviewer_naming": ReviewerNaming.ACCOUNT, "with_reports": True},
}

CHANGED_SINCE = (
    "gold.parquet", "gemex/conversations.json", "gemex/conversations_paper.json", "croissant.json",
    "datacard.md",
)  # fmt: skip


@pytest.fixture(params=list(RELEASE_OPTIONS))
def old_workspace(request, tmp_path):
    """(name, engine of a migrated workspace of that name)."""
    path = tmp_path / "overread.sqlite"
    path.write_bytes(gzip.decompress((STORED_WORKSPACES / f"{request.param}.sqlite.gz").read_bytes()))
    engine = make_engine(f"sqlite:///{path}")
    upgrade(engine)
    yield request.param, engine
    engine.dispose()


def read_files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def undo_later_changes(released_files, stored_files):
    """Check that files whose format has changed differ in nothing else, and replace them by the old ones.

    gold.parquet has two new columns. Locations in the conversations are rounded to whole pixels, and spaces
    are as in GEMeX's files. The data card has Clopper-Pearson instead of Jeffreys intervals.
    croissant.json describes gold.parquet.
    Hashes and sizes of these files are in croissant.json and manifest.json.
    """
    released, stored = (
        pq.read_table(io.BytesIO(files["gold.parquet"])) for files in (released_files, stored_files)
    )
    added = set(released.column_names) - set(stored.column_names)
    assert added == {"box_grid", "box_fit"}
    assert all(released.column(name).null_count == len(released) for name in added)
    assert released.select(stored.column_names).to_pylist() == stored.to_pylist()
    for name in ("gemex/conversations.json", "gemex/conversations_paper.json"):
        is_gemex_format = not name.endswith("paper.json")
        assert json.loads(released_files[name]) == [
            modernise_conversation(record, is_gemex_format=is_gemex_format)
            for record in json.loads(stored_files[name])
        ]
    check_new_intervals(released_files["datacard.md"], stored_files["datacard.md"])
    entries, stored_entries = (
        {entry["@id"]: entry for entry in json.loads(files["croissant.json"])["distribution"]}
        for files in (released_files, stored_files)
    )
    assert entries.keys() == stored_entries.keys()
    for name, entry in entries.items():
        assert entry["sha256"] == hashlib.sha256(released_files[name]).hexdigest()
    for name in CHANGED_SINCE:
        for compute_entry in (
            lambda content: hashlib.sha256(content).hexdigest(),
            lambda content: str(len(content)),
        ):
            # whole words only: the digits of a size may be part of a hash
            new, old = (compute_entry(files[name]).encode() for files in (released_files, stored_files))
            released_files["manifest.json"] = re.sub(
                rb"\b" + new + rb"\b", old, released_files["manifest.json"]
            )
        released_files[name] = stored_files[name]


def check_new_intervals(released, stored):
    """Check that the data card differs only by the intervals of the estimates and by their method."""
    lines, old_lines = (content.decode().splitlines() for content in (released, stored))
    for line, old_line in zip(lines, old_lines, strict=True):
        if line != old_line and line.startswith("|"):
            cells, old_cells = line.split("|"), old_line.split("|")
            assert [*cells[:3], *cells[4:]] == [*old_cells[:3], *old_cells[4:]]
        elif line != old_line:
            assert "Clopper and Pearson" in line
            assert "Jeffreys" in old_line
            assert line.partition("Intervals are")[0] == old_line.partition("Intervals are")[0]


def modernise_conversation(record, *, is_gemex_format):
    """The record with locations as whole pixels and, as in GEMeX's files, no space before the question."""
    question, answer = record["conversations"]
    turn, _, location = answer["value"].partition("<location>")
    if location:
        rounded = [[round(value) for value in box] for box in json.loads(location)]
        answer = {**answer, "value": f"{turn}<location>{' ' * is_gemex_format}{rounded}"}
    if is_gemex_format:
        question = {**question, "value": question["value"].replace("<image>\n ", "<image>\n", 1)}
    return {**record, "conversations": [question, answer]}


def test_an_old_workspace_releases_the_same_bytes_apart_from_known_changes(old_workspace, tmp_path):
    name, engine = old_workspace
    with read_only_session(engine) as db:
        write_release(
            db, by=command_line_person(), name="v1", out=tmp_path / "v1",
            workspace=Workspace(home=tmp_path, database_url=""), **RELEASE_OPTIONS[name],
        )  # fmt: skip
    released_files, stored_files = read_files(tmp_path / "v1"), read_files(STORED_WORKSPACES / name)
    assert released_files.keys() == stored_files.keys()
    undo_later_changes(released_files, stored_files)
    assert [name for name in stored_files if released_files[name] != stored_files[name]] == []


@pytest.mark.slow
def test_the_audit_trail_of_an_old_workspace_is_valid(old_workspace):
    _, engine = old_workspace
    with read_only_session(engine) as db:
        assert verify_audit(db, by=command_line_person()).fault is None


@pytest.mark.parametrize("name", RELEASE_OPTIONS)
def test_the_stored_old_release_is_valid(name):
    report = verify_release(STORED_WORKSPACES / name)
    assert report.faults == ()
    assert report.questions > 0
