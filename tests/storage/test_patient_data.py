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
from tests.storage.import_worlds import make_record, to_json_lines
from tests.unit.makers.dicom_files import dicom, ramp
from tests.unit.makers.raster_files import png

pytestmark = pytest.mark.full

COMMAND_LINE = command_line_person()
NOW = datetime(2026, 1, 5, tzinfo=UTC)
PATIENT_HEADER: dict[str, Any] = {
    "PatientName": "Planted^Wilhelmina", "PatientID": "MRN-7781234", "AccessionNumber": "ACC-555123",
    "StudyDate": "20190314", "InstitutionName": "Planted General Hospital", "BurnedInAnnotation": "YES",
}  # fmt: skip


@pytest.fixture
def db(sqlite_engine):
    with Session(sqlite_engine, expire_on_commit=False) as session:
        yield session


@pytest.fixture
def any_db(engine):
    """A session on SQLite and on PostgreSQL, for tests of queries."""
    with Session(engine, expire_on_commit=False) as session:
        yield session


@pytest.fixture
def workspace(tmp_path):
    return Workspace(home=tmp_path / "home", database_url="")


def make_question(number: int = 1, **changes):
    fields = make_record(number)
    fields["exam"]["radiographs"][0]["file"] = "pa.dcm"
    fields.update(changes)
    return fields


def import_records(db, tmp_path, workspace, *records, images=None, **options):
    folder = tmp_path / "files"
    folder.mkdir(exist_ok=True)
    (folder / "pa.dcm").write_bytes(dicom(ramp(200, 200), **PATIENT_HEADER))
    file = tmp_path / "questions.jsonl"
    file.write_bytes(to_json_lines(*(records or [make_question()])))
    report = import_questions(
        db, by=COMMAND_LINE, path=file, dataset="d", images=images or folder, workspace=workspace, now=NOW,
        **options,
    )  # fmt: skip
    db.commit()
    return report


def enable_deidentification(db):
    change_rules(db, by=COMMAND_LINE, originals=Originals.DEIDENTIFIED, revision=0, now=NOW)
    db.commit()


def read_all_bytes(folder) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


# ---------------------------------------------------------------------------------------------- the rules
def test_new_workspace_keeps_whole_files_without_pixel_check(db):
    current = load_rules(db, by=COMMAND_LINE)
    assert (current.originals, current.confirm_pixels, current.revision) == (
        Originals.WHOLE,
        PixelCheckScope.NONE,
        0,
    )


def test_stale_change_of_the_rules_is_refused(db):
    enable_deidentification(db)
    with pytest.raises(StaleRevision):
        change_rules(db, by=COMMAND_LINE, confirm_pixels=PixelCheckScope.ALL, revision=0, now=NOW)


def test_change_of_the_rules_is_audited(db):
    enable_deidentification(db)
    action, old, new = db.execute(text("SELECT what, old, new FROM audit_entry ORDER BY 1 DESC")).first()
    assert action == "change the rules on patient data"
    assert "whole" in old
    assert "deidentified" in new


# ---------------------------------------------------------------------------- de-identification on import
def test_whole_file_is_stored_unchanged(db, tmp_path, workspace):
    import_records(db, tmp_path, workspace)
    assert dicom(ramp(200, 200), **PATIENT_HEADER) in read_all_bytes(workspace.images)


def test_deidentified_import_writes_no_original_data(db, tmp_path, workspace):
    enable_deidentification(db)
    import_records(db, tmp_path, workspace)
    stored_bytes = read_all_bytes(workspace.home)
    assert [word for word in (b"Planted", b"7781234", b"555123", b"20190314") if word in stored_bytes] == []


def test_image_hash_is_that_of_the_deidentified_file(db, tmp_path, workspace):
    enable_deidentification(db)
    import_records(db, tmp_path, workspace)
    sha256 = db.execute(text("SELECT sha256 FROM image")).scalar_one()
    stored_file = FolderStore(workspace.images).read(sha256)  # reading verifies the file
    assert dcmread(BytesIO(stored_file)).PatientIdentityRemoved == "YES"


def test_single_import_can_request_deidentification(db, tmp_path, workspace):
    import_records(
        db, tmp_path, workspace, deidentification=load_deidentification(db, by=COMMAND_LINE, deidentify=True)
    )
    assert b"Planted" not in read_all_bytes(workspace.home)


def test_whole_and_deidentified_files_get_the_same_pseudonym(db, tmp_path, workspace):
    import_records(db, tmp_path, workspace)
    pseudonym = db.execute(text("SELECT patient FROM exam")).scalar_one()
    second = make_question(2)
    second["exam"]["id"] = "another"
    import_records(
        db,
        tmp_path,
        workspace,
        second,
        deidentification=load_deidentification(db, by=COMMAND_LINE, deidentify=True),
    )
    assert db.execute(text("SELECT DISTINCT patient FROM exam")).scalars().all() == [pseudonym]


def test_import_is_refused_after_the_rules_became_stricter(db, tmp_path, workspace):
    deidentification = load_deidentification(db, by=COMMAND_LINE)
    enable_deidentification(db)
    with pytest.raises(Refused, match="de-identify files on import"):
        import_records(db, tmp_path, workspace, deidentification=deidentification)


def test_images_are_imported_from_a_zip_in_memory(db, tmp_path, workspace):
    zip_bytes = BytesIO()
    with ZipFile(zip_bytes, "w") as archive:
        archive.writestr("wrapping/pa.dcm", dicom(ramp(200, 200), **PATIENT_HEADER))
    enable_deidentification(db)
    report = import_records(db, tmp_path, workspace, images=ZippedImages(zip_bytes.getvalue()))
    assert (report.questions, report.images) == (1, 1)
    assert b"Planted" not in read_all_bytes(workspace.home)


def test_full_disk_rolls_the_import_back(db, tmp_path, workspace, monkeypatch):
    def fail_on_full_disk(self, sha256, content):
        raise OSError(errno.ENOSPC, "No space left on device", str(workspace.images))

    monkeypatch.setattr(FolderStore, "write", fail_on_full_disk)
    with pytest.raises(OSError, match="No space left"):
        import_records(db, tmp_path, workspace, skip_bad=True)
    db.rollback()
    assert db.execute(text("SELECT count(*) FROM question")).scalar_one() == 0


# ---------------------------------------------------------------------------------------------- the texts
def find_and_list_hits(db, workspace):
    result = find_hits(db, by=COMMAND_LINE, dataset="d", workspace=workspace)
    record_hits(db, by=COMMAND_LINE, result=result, now=NOW)
    db.commit()
    listed = list_hits(db, by=COMMAND_LINE, dataset="d", limit=100)
    return {
        (listed_hit.hit.kind, listed_hit.text[listed_hit.hit.start : listed_hit.hit.end])
        for listed_hit in listed
    }


TEXTS = {
    "explanation": "As Ms Wilhelmina said, ACC-555123 of 14 March 2019 shows what Planted had.",
    "report": None,
}


def test_texts_are_searched_for_patterns_and_header_values(any_db, tmp_path, workspace):
    import_records(any_db, tmp_path, workspace, make_question(explanation=TEXTS["explanation"]))
    hits = find_and_list_hits(any_db, workspace)
    assert (HitKind.PERSON, "Ms Wilhelmina") in hits
    assert (HitKind.DATE, "14 March 2019") in hits
    assert (HitKind.HEADER_NUMBER, "ACC-555123") in hits
    assert (HitKind.HEADER_NAME, "Planted") in hits
    assert (HitKind.HEADER_DATE, "14 March 2019") in hits


def test_deidentified_import_searches_texts_for_header_values(db, tmp_path, workspace):
    enable_deidentification(db)
    import_records(db, tmp_path, workspace, make_question(explanation=TEXTS["explanation"]))
    counts = load_hit_report(db, by=COMMAND_LINE, dataset="d").counts
    assert counts[HitKind.HEADER_NUMBER] == 1
    assert HitKind.DATE not in counts


def test_later_pattern_search_keeps_header_hits_of_the_import(db, tmp_path, workspace):
    enable_deidentification(db)
    import_records(db, tmp_path, workspace, make_question(explanation=TEXTS["explanation"]))
    hits = find_and_list_hits(db, workspace)
    assert (HitKind.HEADER_NUMBER, "ACC-555123") in hits
    assert (HitKind.DATE, "14 March 2019") in hits


def test_hits_are_stored_by_position_without_their_text(db, tmp_path, workspace):
    import_records(db, tmp_path, workspace, make_question(explanation=TEXTS["explanation"]))
    find_and_list_hits(db, workspace)
    assert "Wilhelmina" not in str(db.execute(text("SELECT * FROM text_hit")).all())


# --------------------------------------------------------------------------------------------- the pixels
def load_image_hash(db) -> str:
    return db.execute(text("SELECT sha256 FROM image")).scalar_one()


def decide_image(db, decision):
    decide_images(db, by=COMMAND_LINE, decisions=[(load_image_hash(db), decision)], now=NOW)
    db.commit()


def test_unranked_images_come_first_then_those_with_most_text(any_db, tmp_path, workspace):
    (tmp_path / "files").mkdir()
    for number in (2, 3):
        (tmp_path / "files" / f"{number}.png").write_bytes(png(ramp(20 + number, 20, bits=8)))
    others = [make_question(number) for number in (2, 3)]
    for number, record_fields in zip((2, 3), others, strict=True):
        record_fields["exam"]["id"] = f"exam {number}"
        record_fields["exam"]["radiographs"][0]["file"] = f"{number}.png"
    import_records(any_db, tmp_path, workspace, make_question(), *others)
    images = load_next_images(any_db, by=COMMAND_LINE, dataset="d", count=9)
    ranks = [(images[0].sha256, 1.0, 1), (images[1].sha256, 30.0, 4)]
    record_ranks(any_db, by=COMMAND_LINE, ranking=("made up", ranks), now=NOW)
    ranked_images = load_next_images(any_db, by=COMMAND_LINE, dataset="d", count=9)
    assert [image.score for image in ranked_images] == [None, 30.0, 1.0]


def test_decided_image_is_counted_and_not_shown_again(db, tmp_path, workspace):
    import_records(db, tmp_path, workspace)
    change_rules(db, by=COMMAND_LINE, confirm_pixels=PixelCheckScope.DICOM, revision=0, now=NOW)
    assert load_pixel_state(db, by=COMMAND_LINE, dataset="d").undecided == 1
    decide_image(db, PixelDecision.NO_PATIENT_TEXT)
    state = load_pixel_state(db, by=COMMAND_LINE, dataset="d")
    assert (state.images, state.decided, state.undecided) == (1, 1, 0)
    assert load_next_images(db, by=COMMAND_LINE, dataset="d", count=9) == []


def test_removed_image_is_hidden_until_restored(db, tmp_path, workspace):
    import_records(db, tmp_path, workspace)
    decide_image(db, PixelDecision.REMOVE)
    exam = db.execute(text("SELECT id FROM exam")).scalar_one()
    key = db.execute(text("SELECT key FROM radiograph")).scalar_one()
    assert find_image(db, exam_row_id=exam, radiograph_key=key) is None
    assert len(load_removed_images(db, by=COMMAND_LINE, dataset="d")) == 1
    decide_image(db, PixelDecision.NO_PATIENT_TEXT)
    assert find_image(db, exam_row_id=exam, radiograph_key=key) is not None


def test_changed_decision_is_appended_and_audited(any_db, tmp_path, workspace):
    import_records(any_db, tmp_path, workspace)
    decide_image(any_db, PixelDecision.REMOVE)
    decide_image(any_db, PixelDecision.REMOVE)
    decide_image(any_db, PixelDecision.NO_PATIENT_TEXT)
    assert any_db.execute(text("SELECT count(*) FROM pixel_decision")).scalar_one() == 2
    audit_count = text("SELECT count(*) FROM audit_entry WHERE what = 'look for patients in pixels'")
    assert any_db.execute(audit_count).scalar_one() == 2


def test_decision_on_an_unknown_image_is_refused(db):
    with pytest.raises(NotFound):
        decide_images(db, by=COMMAND_LINE, decisions=[("0" * 64, PixelDecision.REMOVE)], now=NOW)


def test_ranking_without_tesseract_is_described_as_such():
    description = describe_ranking(("bright spots in rows", [("a" * 64, 4.0, 4), ("b" * 64, 0.0, 0)]))
    assert "Install tesseract to rank by recognised words" in description
    assert "1 may contain letters." in description
