"""Creating releases: in one step, reproducibly, never over existing files, and only with permission."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest
from sqlalchemy import select

from accounts.service import command_line_person
from domain.batches import BatchSettings, FormScope
from domain.corrections import Correction
from domain.errors import InvalidValue, NotAllowed, NotFound, Refused
from domain.verdicts import Decision
from quality.service import run_checks
from release.service import (
    find_release_file,
    list_releasable_batches,
    list_release_files,
    list_releases,
    preview_release,
    record_release,
    verify_recorded_release,
    verify_release,
)
from storage.images.files import store_image
from storage.rows.datasets import ImageRow, RadiographRow
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.golden.release_world import make_judged_world, write_test_release
from tests.storage.judgements import make_acceptance, save_verdict
from tests.storage.release_helpers import create_release
from tests.storage.worlds import NOW, assign_all, make_batch, make_world

pytestmark = pytest.mark.slow

BY = command_line_person()


@pytest.fixture
def world(engine):
    return make_judged_world(engine)


@pytest.fixture
def sqlite_world(sqlite_engine):
    return make_judged_world(sqlite_engine)


def read_contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def record_written_release(world, release):
    with unit_of_work(world.engine) as db:
        return record_release(db, by=BY, release=release, now=NOW).id


def test_release_created_twice_is_identical(world, tmp_path):
    write_test_release(world, tmp_path / "a" / "v1")
    write_test_release(world, tmp_path / "b" / "v1")
    assert read_contents(tmp_path / "a" / "v1") == read_contents(tmp_path / "b" / "v1")


def test_release_is_identical_from_both_databases(sqlite_engine, postgres_engine, tmp_path):
    for name, engine in (("a", sqlite_engine), ("b", postgres_engine)):
        write_test_release(make_judged_world(engine), tmp_path / name / "v1")
    assert read_contents(tmp_path / "a" / "v1") == read_contents(tmp_path / "b" / "v1")


def test_identical_release_in_the_same_folder_is_reused(world, tmp_path):
    first = write_test_release(world, tmp_path / "v1")
    second = write_test_release(world, tmp_path / "v1")
    assert (first.already_existed, second.already_existed) == (False, True)
    assert record_written_release(world, first) == record_written_release(world, second)


def test_the_data_card_has_the_measured_checks_once_they_have_run(sqlite_world, tmp_path):
    write_test_release(sqlite_world, tmp_path / "before")
    run_checks(
        by=BY, dataset="demo", clock=lambda: NOW,
        read_session=lambda: read_only_session(sqlite_world.engine),
        transaction=lambda: unit_of_work(sqlite_world.engine),
    )  # fmt: skip
    write_test_release(sqlite_world, tmp_path / "after")
    before, after = ((tmp_path / name / "datacard.md").read_text() for name in ("before", "after"))
    assert "How accurate" not in before
    section = after.split("## How accurate the automatic checks are")[1].split("## ")[0]
    assert "| Side or level | 1 | all its kinds of error |" in section


def test_folder_with_other_files_is_not_overwritten(sqlite_world, tmp_path):
    (tmp_path / "v1").mkdir()
    (tmp_path / "v1" / "notes.txt").write_text("mine")
    with pytest.raises(Refused, match="is not this release"):
        write_test_release(sqlite_world, tmp_path / "v1")
    assert (tmp_path / "v1" / "notes.txt").read_text() == "mine"
    assert not list(tmp_path.glob(".v1.incoming-*"))


def test_release_can_be_written_to_an_empty_folder(sqlite_world, tmp_path):
    (tmp_path / "v1").mkdir()
    assert verify_release(write_test_release(sqlite_world, tmp_path / "v1").folder).ok


def test_release_name_cannot_be_reused_for_other_content(world, tmp_path):
    record_written_release(world, write_test_release(world, tmp_path / "v1"))
    save_verdict(world, make_acceptance(world, question=9))
    with pytest.raises(Refused, match="Choose another name"):
        write_test_release(world, tmp_path / "elsewhere")
    assert write_test_release(world, tmp_path / "v2", name="v2").tally.released == 6


def test_preview_equals_the_tally_of_the_release(world, tmp_path):
    with read_only_session(world.engine) as db:
        preview = preview_release(db, by=BY, dataset="demo")
    release = write_test_release(world, tmp_path / "v1")
    assert preview == release.tally
    assert (preview.released, preview.accepted, preview.revised, preview.judged, preview.unjudged) == (
        5,
        1,
        4,
        8,
        4,
    )
    assert preview.excluded == {
        "rejected": 1,
        "rejected by one reviewer, not by another": 1,
        "corrected differently by two reviewers": 1,
    }


def test_release_without_fully_judged_questions_is_refused(sqlite_engine, tmp_path):
    world = make_world(
        sqlite_engine, assigned_to=("ruth",), settings=BatchSettings(parts=FormScope.IMAGE_ALIGNMENT)
    )
    save_verdict(world, make_acceptance(world, question=1))
    with pytest.raises(Refused, match=r"only its image alignment was judged \(1\)"):
        write_test_release(world, tmp_path / "v1")


def test_acceptance_and_correction_are_a_disagreement(sqlite_engine):
    world = make_world(sqlite_engine, assigned_to=("ruth", "remo"))
    save_verdict(world, make_acceptance(world, question=1))
    correction = Correction(stem="What is shown?")
    save_verdict(
        world,
        make_acceptance(world, question=1, person="remo", decision=Decision.REVISE, correction=correction),
        "remo",
    )
    with read_only_session(world.engine) as db:
        preview = preview_release(db, by=BY, dataset="demo")
    assert preview.excluded == {"corrected differently by two reviewers": 1}


def test_later_verdict_of_a_reviewer_in_another_batch_counts(sqlite_engine):
    world = make_world(sqlite_engine, assigned_to=("ruth",))
    with unit_of_work(world.engine) as db:
        second = make_batch(db, dataset_id=world.dataset_id, name="second", questions=world.questions[:2])
        assign_all(db, batch=second, questions=world.questions[:2], person=world.people["ruth"])
    save_verdict(world, make_acceptance(world, question=1))
    correction = Correction(stem="What is shown?")
    save_verdict(
        world,
        make_acceptance(
            world,
            question=1,
            batch_id=second.id,
            decision=Decision.REVISE,
            correction=correction,
            given_at=NOW + timedelta(days=1),
        ),
    )
    with read_only_session(world.engine) as db:
        of_both_batches = preview_release(db, by=BY, dataset="demo")
        of_first_batch = preview_release(db, by=BY, dataset="demo", batches=["first"])
        assert list_releasable_batches(db, by=BY) == {"demo": ["first", "second"]}
    assert (of_both_batches.revised, of_both_batches.accepted) == (1, 0)
    assert (of_first_batch.revised, of_first_batch.accepted) == (0, 1)


def test_release_without_verdicts_is_refused(sqlite_engine, tmp_path):
    world = make_world(sqlite_engine)
    with pytest.raises(Refused, match="has been judged in these batches"):
        write_test_release(world, tmp_path / "v1")
    assert list(tmp_path.glob("*v1*")) == []


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "../v1", "v 1", "x" * 65])
def test_release_name_that_is_no_valid_file_name_is_refused(sqlite_world, tmp_path, name):
    with pytest.raises(InvalidValue, match="name"):
        write_test_release(sqlite_world, tmp_path / "v1", name=name)


def test_unknown_batch_is_refused_with_a_list_of_the_existing_batches(sqlite_world, tmp_path):
    with pytest.raises(NotFound, match=r"has no batch third\. Choose from: first"):
        write_test_release(sqlite_world, tmp_path / "v1", batches=["third"])


def test_reviewer_may_not_create_or_read_releases(sqlite_world, tmp_path):
    ruth = sqlite_world.people["ruth"]
    with unit_of_work(sqlite_world.engine) as db:
        release_id = record_release(
            db, by=BY, release=write_test_release(sqlite_world, tmp_path / "v1"), now=NOW
        ).id
    with read_only_session(sqlite_world.engine) as db:
        for attempt in (
            lambda: preview_release(db, by=ruth, dataset="demo"),
            lambda: list_releases(db, by=ruth),
            lambda: list_releasable_batches(db, by=ruth),
            lambda: list_release_files(db, by=ruth, release_id=release_id),
            lambda: verify_recorded_release(db, by=ruth, release_id=release_id),
            lambda: create_release(
                db,
                by=ruth,
                dataset="demo",
                name="v2",
                out=tmp_path / "v2",
                workspace=Workspace(home=tmp_path, database_url=""),
                now=NOW,
            ),
        ):
            with pytest.raises(NotAllowed):
                attempt()


def test_release_includes_images_named_by_hash(sqlite_world, tmp_path):
    workspace = Workspace(home=tmp_path / "home", database_url="")
    content = b"the bytes of a radiograph"
    sha256 = store_image(workspace, content=content)
    with unit_of_work(sqlite_world.engine) as db:
        db.add(
            ImageRow(
                sha256=sha256,
                media_type="application/dicom",
                bytes=len(content),
                rows=10,
                columns=10,
                bits=12,
                photometric="MONOCHROME2",
            )
        )
        db.flush()
        for row in db.execute(select(RadiographRow)).scalars():
            row.image_sha256 = sha256
    with unit_of_work(sqlite_world.engine) as db:
        summary = create_release(
            db,
            by=BY,
            dataset="demo",
            name="v1",
            out=tmp_path / "v1",
            with_images=True,
            workspace=workspace,
            now=NOW,
        )
    assert (tmp_path / "v1" / "images" / f"{sha256}.dcm").read_bytes() == content
    assert f'"file":"images/{sha256}.dcm"' in (tmp_path / "v1" / "gold.jsonl").read_text()
    assert verify_release(summary.release.folder).ok


def test_release_with_a_missing_image_is_refused(sqlite_world, tmp_path):
    with pytest.raises(NotFound, match="Import it again"):
        write_test_release(sqlite_world, tmp_path / "v1", with_images=True)
    assert list(tmp_path.glob("*v1*")) == []


def test_release_files_are_found_by_manifest_path_only(sqlite_world, tmp_path):
    release_id = record_written_release(sqlite_world, write_test_release(sqlite_world, tmp_path / "v1"))
    (tmp_path / "v1" / "extra.txt").write_text("not of the release")
    with read_only_session(sqlite_world.engine) as db:
        release_file = find_release_file(db, by=BY, release_id=release_id, name="gold.jsonl")
        assert hashlib.sha256(release_file.path.read_bytes()).hexdigest() == release_file.entry.sha256
        assert release_file.download_name == "demo-v1-gold.jsonl"
        for name in ("extra.txt", "../v1/gold.jsonl", "/etc/passwd", "", "images"):
            with pytest.raises(NotFound):
                find_release_file(db, by=BY, release_id=release_id, name=name)


def test_release_with_an_altered_manifest_lists_no_files(sqlite_world, tmp_path):
    release_id = record_written_release(sqlite_world, write_test_release(sqlite_world, tmp_path / "v1"))
    path = tmp_path / "v1" / "manifest.json"
    path.write_text(path.read_text().replace('"seed": 7', '"seed": 8'))
    assert verify_release(tmp_path / "v1").ok  # the files still match the manifest
    with read_only_session(sqlite_world.engine) as db:
        report = verify_recorded_release(db, by=BY, release_id=release_id)
        assert report.faults == ("manifest.json: differs from the manifest recorded at creation",)
        with pytest.raises(Refused, match="was changed"):
            list_release_files(db, by=BY, release_id=release_id)
