"""Patient data in a workspace: de-identification on import, hits in texts, and the check of pixels."""

from __future__ import annotations

import errno
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from pydicom import dcmread
from sqlalchemy import text
from sqlmodel import Session

from accounts.service import command_line_person
from domain.errors import NotFound, Refused, StaleRevision
from domain.patient_data import HitKind, Originals, PixelCheckScope, PixelDecision
from intake.service import ZippedImages, import_questions, load_deidentification
from privacy.service import (
    change_rules,
    decide_images,
    describe_ranking,
    find_hits,
    list_hits,
    load_hit_report,
    load_next_images,
    load_pixel_state,
    load_removed_images,
    load_rules,
    record_hits,
    record_ranks,
)
from storage.images.folder import FolderStore
from storage.images.radiographs import find_image
from storage.workspace import Workspace
from tests.storage.import_worlds import lines, record
from tests.unit.makers.dicom_files import dicom, ramp
from tests.unit.makers.raster_files import png

pytestmark = pytest.mark.full

COMMAND_LINE = command_line_person()
NOW = datetime(2026, 1, 5, tzinfo=UTC)
SECRET: dict[str, Any] = {
    "PatientName": "Planted^Wilhelmina", "PatientID": "MRN-7781234", "AccessionNumber": "ACC-555123",
    "StudyDate": "20190314", "InstitutionName": "Planted General Hospital", "BurnedInAnnotation": "YES",
}  # fmt: skip


@pytest.fixture
def db(sqlite_engine):
    with Session(sqlite_engine, expire_on_commit=False) as session:
        yield session


@pytest.fixture
def either(engine):
    """A session on SQLite and on PostgreSQL, for tests of queries."""
    with Session(engine, expire_on_commit=False) as session:
        yield session


@pytest.fixture
def workspace(tmp_path):
    return Workspace(home=tmp_path / "home", database_url="")


def question(number: int = 1, **changes):
    made = record(number)
    made["exam"]["radiographs"][0]["file"] = "pa.dcm"
    made.update(changes)
    return made


def bring_in(db, tmp_path, workspace, *records, images=None, **options):
    folder = tmp_path / "files"
    folder.mkdir(exist_ok=True)
    (folder / "pa.dcm").write_bytes(dicom(ramp(200, 200), **SECRET))
    file = tmp_path / "questions.jsonl"
    file.write_bytes(lines(*(records or [question()])))
    report = import_questions(
        db, by=COMMAND_LINE, path=file, dataset="d", images=images or folder, workspace=workspace, now=NOW,
        **options,
    )  # fmt: skip
    db.commit()
    return report


def deidentify_at_the_door(db):
    change_rules(db, by=COMMAND_LINE, originals=Originals.DEIDENTIFIED, revision=0, now=NOW)
    db.commit()


def every_byte_below(folder) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


# ---------------------------------------------------------------------------------------------- the rules
def test_a_new_workspace_keeps_files_whole_and_asks_for_no_look(db):
    found = load_rules(db, by=COMMAND_LINE)
    assert (found.originals, found.confirm_pixels, found.revision) == (
        Originals.WHOLE,
        PixelCheckScope.NONE,
        0,
    )


def test_a_change_on_top_of_somebody_elses_is_refused(db):
    deidentify_at_the_door(db)
    with pytest.raises(StaleRevision):
        change_rules(db, by=COMMAND_LINE, confirm_pixels=PixelCheckScope.ALL, revision=0, now=NOW)


def test_a_change_of_the_rules_is_on_record(db):
    deidentify_at_the_door(db)
    what, old, new = db.execute(text("SELECT what, old, new FROM audit_entry ORDER BY 1 DESC")).first()
    assert what == "change the rules on patient data"
    assert "whole" in old
    assert "deidentified" in new


# ---------------------------------------------------------------------------- de-identification on import
def test_kept_whole_the_file_is_there_byte_for_byte(db, tmp_path, workspace):
    bring_in(db, tmp_path, workspace)
    assert dicom(ramp(200, 200), **SECRET) in every_byte_below(workspace.images)


def test_at_the_door_nothing_of_the_original_is_written_anywhere(db, tmp_path, workspace):
    deidentify_at_the_door(db)
    bring_in(db, tmp_path, workspace)
    kept = every_byte_below(workspace.home)
    assert [word for word in (b"Planted", b"7781234", b"555123", b"20190314") if word in kept] == []


def test_the_hash_is_of_what_is_kept(db, tmp_path, workspace):
    deidentify_at_the_door(db)
    bring_in(db, tmp_path, workspace)
    sha256 = db.execute(text("SELECT sha256 FROM image")).scalar_one()
    kept = FolderStore(workspace.images).read(sha256)  # reading verifies the file
    assert dcmread(BytesIO(kept)).PatientIdentityRemoved == "YES"


def test_an_import_may_ask_for_it_by_itself(db, tmp_path, workspace):
    bring_in(
        db, tmp_path, workspace, deidentification=load_deidentification(db, by=COMMAND_LINE, deidentify=True)
    )
    assert b"Planted" not in every_byte_below(workspace.home)


def test_both_ways_give_the_patient_the_same_pseudonym(db, tmp_path, workspace):
    bring_in(db, tmp_path, workspace)
    whole = db.execute(text("SELECT patient FROM exam")).scalar_one()
    second = question(2)
    second["exam"]["id"] = "another"
    bring_in(
        db,
        tmp_path,
        workspace,
        second,
        deidentification=load_deidentification(db, by=COMMAND_LINE, deidentify=True),
    )
    assert db.execute(text("SELECT DISTINCT patient FROM exam")).scalars().all() == [whole]


def test_rules_made_stricter_while_files_were_fetched_stop_the_import(db, tmp_path, workspace):
    door = load_deidentification(db, by=COMMAND_LINE)
    deidentify_at_the_door(db)
    with pytest.raises(Refused, match="de-identify files at the door"):
        bring_in(db, tmp_path, workspace, deidentification=door)


def test_a_zip_in_memory_brings_images_in_without_being_unpacked(db, tmp_path, workspace):
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("wrapping/pa.dcm", dicom(ramp(200, 200), **SECRET))
    deidentify_at_the_door(db)
    report = bring_in(db, tmp_path, workspace, images=ZippedImages(packed.getvalue()))
    assert (report.questions, report.images) == (1, 1)
    assert b"Planted" not in every_byte_below(workspace.home)


def test_a_full_disk_stops_the_import_whole(db, tmp_path, workspace, monkeypatch):
    def full(self, sha256, content):
        raise OSError(errno.ENOSPC, "No space left on device", str(workspace.images))

    monkeypatch.setattr(FolderStore, "write", full)
    with pytest.raises(OSError, match="No space left"):
        bring_in(db, tmp_path, workspace, skip_bad=True)
    db.rollback()
    assert db.execute(text("SELECT count(*) FROM question")).scalar_one() == 0


# ---------------------------------------------------------------------------------------------- the texts
def search(db, workspace):
    found = find_hits(db, by=COMMAND_LINE, dataset="d", workspace=workspace)
    record_hits(db, by=COMMAND_LINE, result=found, now=NOW)
    db.commit()
    shown = list_hits(db, by=COMMAND_LINE, dataset="d", limit=100)
    return {(each.hit.kind, each.text[each.hit.start : each.hit.end]) for each in shown}


TOLD = {
    "explanation": "As Ms Wilhelmina said, ACC-555123 of 14 March 2019 shows what Planted had.",
    "report": None,
}


def test_patterns_and_header_values_are_found_in_the_texts(either, tmp_path, workspace):
    bring_in(either, tmp_path, workspace, question(explanation=TOLD["explanation"]))
    found = search(either, workspace)
    assert (HitKind.PERSON, "Ms Wilhelmina") in found
    assert (HitKind.DATE, "14 March 2019") in found
    assert (HitKind.HEADER_NUMBER, "ACC-555123") in found
    assert (HitKind.HEADER_NAME, "Planted") in found
    assert (HitKind.HEADER_DATE, "14 March 2019") in found


def test_at_the_door_the_import_itself_searches_for_the_header(db, tmp_path, workspace):
    deidentify_at_the_door(db)
    bring_in(db, tmp_path, workspace, question(explanation=TOLD["explanation"]))
    counts = load_hit_report(db, by=COMMAND_LINE, dataset="d").counts
    assert counts[HitKind.HEADER_NUMBER] == 1
    assert HitKind.DATE not in counts


def test_a_later_search_by_pattern_keeps_what_the_door_found(db, tmp_path, workspace):
    deidentify_at_the_door(db)
    bring_in(db, tmp_path, workspace, question(explanation=TOLD["explanation"]))
    found = search(db, workspace)
    assert (HitKind.HEADER_NUMBER, "ACC-555123") in found
    assert (HitKind.DATE, "14 March 2019") in found


def test_what_was_found_is_kept_by_place_and_not_by_word(db, tmp_path, workspace):
    bring_in(db, tmp_path, workspace, question(explanation=TOLD["explanation"]))
    search(db, workspace)
    assert "Wilhelmina" not in str(db.execute(text("SELECT * FROM text_hit")).all())


# --------------------------------------------------------------------------------------------- the pixels
def image(db) -> str:
    return db.execute(text("SELECT sha256 FROM image")).scalar_one()


def decide(db, decision):
    decide_images(db, by=COMMAND_LINE, decisions=[(image(db), decision)], now=NOW)
    db.commit()


def test_images_with_most_text_come_first_and_unranked_ones_lead(either, tmp_path, workspace):
    (tmp_path / "files").mkdir()
    for number in (2, 3):
        (tmp_path / "files" / f"{number}.png").write_bytes(png(ramp(20 + number, 20, bits=8)))
    others = [question(number) for number in (2, 3)]
    for number, each in zip((2, 3), others, strict=True):
        each["exam"]["id"] = f"exam {number}"
        each["exam"]["radiographs"][0]["file"] = f"{number}.png"
    bring_in(either, tmp_path, workspace, question(), *others)
    looks = load_next_images(either, by=COMMAND_LINE, dataset="d", count=9)
    ranks = [(looks[0].sha256, 1.0, 1), (looks[1].sha256, 30.0, 4)]
    record_ranks(either, by=COMMAND_LINE, ranking=("made up", ranks), now=NOW)
    again = load_next_images(either, by=COMMAND_LINE, dataset="d", count=9)
    assert [each.score for each in again] == [None, 30.0, 1.0]


def test_a_look_is_counted_and_the_image_asked_for_no_more(db, tmp_path, workspace):
    bring_in(db, tmp_path, workspace)
    change_rules(db, by=COMMAND_LINE, confirm_pixels=PixelCheckScope.DICOM, revision=0, now=NOW)
    assert load_pixel_state(db, by=COMMAND_LINE, dataset="d").undecided == 1
    decide(db, PixelDecision.NO_PATIENT_TEXT)
    state = load_pixel_state(db, by=COMMAND_LINE, dataset="d")
    assert (state.images, state.decided, state.undecided) == (1, 1, 0)
    assert load_next_images(db, by=COMMAND_LINE, dataset="d", count=9) == []


def test_an_image_that_is_taken_out_is_shown_to_nobody_until_it_is_put_back(db, tmp_path, workspace):
    bring_in(db, tmp_path, workspace)
    decide(db, PixelDecision.REMOVE)
    exam = db.execute(text("SELECT id FROM exam")).scalar_one()
    key = db.execute(text("SELECT key FROM radiograph")).scalar_one()
    assert find_image(db, exam_number=exam, radiograph_key=key) is None
    assert len(load_removed_images(db, by=COMMAND_LINE, dataset="d")) == 1
    decide(db, PixelDecision.NO_PATIENT_TEXT)
    assert find_image(db, exam_number=exam, radiograph_key=key) is not None


def test_a_change_of_mind_is_appended_with_both_in_the_audit_trail(either, tmp_path, workspace):
    bring_in(either, tmp_path, workspace)
    decide(either, PixelDecision.REMOVE)
    decide(either, PixelDecision.REMOVE)
    decide(either, PixelDecision.NO_PATIENT_TEXT)
    assert either.execute(text("SELECT count(*) FROM pixel_decision")).scalar_one() == 2
    looks = text("SELECT count(*) FROM audit_entry WHERE what = 'look for patients in pixels'")
    assert either.execute(looks).scalar_one() == 2


def test_no_decision_on_an_image_that_is_not_here(db):
    with pytest.raises(NotFound):
        decide_images(db, by=COMMAND_LINE, decisions=[("0" * 64, PixelDecision.REMOVE)], now=NOW)


def test_a_ranking_without_tesseract_says_so():
    said = describe_ranking(("bright spots in rows", [("a" * 64, 4.0, 4), ("b" * 64, 0.0, 0)]))
    assert "tesseract, which reads words, is not installed" in said
    assert said.endswith("1 may contain letters.")
