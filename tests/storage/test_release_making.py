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
from storage.rows import ImageRow, RadiographRow
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.golden.release_world import judged_world, write
from tests.storage.judgements import accept, give
from tests.storage.made_releases import create_release
from tests.storage.worlds import NOW, assign_all, make_batch, make_world

pytestmark = pytest.mark.slow

BY = command_line_person()


@pytest.fixture
def world(engine):
    return judged_world(engine)


@pytest.fixture
def sqlite_world(sqlite_engine):
    return judged_world(sqlite_engine)


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def record(world, written):
    with unit_of_work(world.engine) as db:
        return record_release(db, by=BY, release=written, now=NOW).id


def test_made_twice_it_is_the_same_byte_for_byte(world, tmp_path):
    write(world, tmp_path / "a" / "v1")
    write(world, tmp_path / "b" / "v1")
    assert contents(tmp_path / "a" / "v1") == contents(tmp_path / "b" / "v1")


def test_both_databases_give_the_same_bytes(sqlite_engine, postgres_engine, tmp_path):
    for name, engine in (("a", sqlite_engine), ("b", postgres_engine)):
        write(judged_world(engine), tmp_path / name / "v1")
    assert contents(tmp_path / "a" / "v1") == contents(tmp_path / "b" / "v1")


def test_the_same_release_at_the_same_place_is_found_there(world, tmp_path):
    first = write(world, tmp_path / "v1")
    again = write(world, tmp_path / "v1")
    assert (first.already_existed, again.already_existed) == (False, True)
    assert record(world, first) == record(world, again)


def test_a_folder_with_something_else_in_it_is_left_alone(sqlite_world, tmp_path):
    (tmp_path / "v1").mkdir()
    (tmp_path / "v1" / "notes.txt").write_text("mine")
    with pytest.raises(Refused, match="is not this release"):
        write(sqlite_world, tmp_path / "v1")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()].count("notes.txt") == 1
    assert not list(tmp_path.glob(".v1.incoming-*"))


def test_an_empty_folder_becomes_the_release(sqlite_world, tmp_path):
    (tmp_path / "v1").mkdir()
    assert verify_release(write(sqlite_world, tmp_path / "v1").folder).ok


def test_a_name_stands_for_one_content(world, tmp_path):
    record(world, write(world, tmp_path / "v1"))
    give(world, accept(world, question=9))
    with pytest.raises(Refused, match="choose another name"):
        write(world, tmp_path / "elsewhere")
    assert write(world, tmp_path / "v2", name="v2").tally.released == 6


def test_the_preview_counts_what_the_release_then_holds(world, tmp_path):
    with read_only_session(world.engine) as db:
        seen = preview_release(db, by=BY, dataset="demo")
    written = write(world, tmp_path / "v1")
    assert seen == written.tally
    assert (seen.released, seen.accepted, seen.revised, seen.judged, seen.unjudged) == (5, 1, 4, 8, 4)
    assert seen.excluded == {
        "rejected": 1,
        "rejected by one reviewer, not by another": 1,
        "corrected differently by two reviewers": 1,
    }


def test_a_question_that_only_had_its_image_alignment_judged_is_left_out(sqlite_engine, tmp_path):
    world = make_world(
        sqlite_engine, assigned_to=("ruth",), settings=BatchSettings(parts=FormScope.IMAGE_ALIGNMENT)
    )
    give(world, accept(world, question=1))
    with pytest.raises(Refused, match="1 only its image alignment was judged"):
        write(world, tmp_path / "v1")


def test_an_accept_and_a_correction_are_a_disagreement(sqlite_engine):
    world = make_world(sqlite_engine, assigned_to=("ruth", "remo"))
    give(world, accept(world, question=1))
    correction = Correction(stem="What is shown?")
    give(
        world,
        accept(world, question=1, person="remo", decision=Decision.REVISE, correction=correction),
        "remo",
    )
    with read_only_session(world.engine) as db:
        seen = preview_release(db, by=BY, dataset="demo")
    assert seen.excluded == {"corrected differently by two reviewers": 1}


def test_the_later_of_two_batches_counts_for_one_reviewer(sqlite_engine):
    world = make_world(sqlite_engine, assigned_to=("ruth",))
    with unit_of_work(world.engine) as db:
        second = make_batch(db, dataset_id=world.dataset_id, name="second", questions=world.questions[:2])
        assign_all(db, batch=second, questions=world.questions[:2], person=world.people["ruth"])
    give(world, accept(world, question=1))
    correction = Correction(stem="What is shown?")
    give(
        world,
        accept(
            world,
            question=1,
            batch_id=second.id,
            decision=Decision.REVISE,
            correction=correction,
            given_at=NOW + timedelta(days=1),
        ),
    )
    with read_only_session(world.engine) as db:
        both = preview_release(db, by=BY, dataset="demo")
        first = preview_release(db, by=BY, dataset="demo", batches=["first"])
        assert list_releasable_batches(db, by=BY) == {"demo": ["first", "second"]}
    assert (both.revised, both.accepted) == (1, 0)
    assert (first.revised, first.accepted) == (0, 1)


def test_nothing_judged_is_no_release(sqlite_engine, tmp_path):
    world = make_world(sqlite_engine)
    with pytest.raises(Refused, match="Nobody has judged"):
        write(world, tmp_path / "v1")
    assert list(tmp_path.glob("*v1*")) == []


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "../v1", "v 1", "x" * 65])
def test_a_name_that_is_no_file_name_is_refused(sqlite_world, tmp_path, name):
    with pytest.raises(InvalidValue, match="name"):
        write(sqlite_world, tmp_path / "v1", name=name)


def test_an_unknown_batch_is_named_with_those_there_are(sqlite_world, tmp_path):
    with pytest.raises(NotFound, match=r"no batch third\. Those there are: first"):
        write(sqlite_world, tmp_path / "v1", batches=["third"])


def test_only_a_coordinator_makes_and_reads_releases(sqlite_world, tmp_path):
    ruth = sqlite_world.people["ruth"]
    with unit_of_work(sqlite_world.engine) as db:
        release_id = record_release(db, by=BY, release=write(sqlite_world, tmp_path / "v1"), now=NOW).id
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


def test_images_go_with_it_under_their_hash(sqlite_world, tmp_path):
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
        made = create_release(
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
    assert verify_release(made.release.folder).ok


def test_an_image_that_is_gone_makes_no_release(sqlite_world, tmp_path):
    with pytest.raises(NotFound, match="Import it again"):
        write(sqlite_world, tmp_path / "v1", with_images=True)
    assert list(tmp_path.glob("*v1*")) == []


def test_a_file_of_a_release_is_found_by_its_path_in_the_manifest_only(sqlite_world, tmp_path):
    release_id = record(sqlite_world, write(sqlite_world, tmp_path / "v1"))
    (tmp_path / "v1" / "extra.txt").write_text("not of the release")
    with read_only_session(sqlite_world.engine) as db:
        found = find_release_file(db, by=BY, release_id=release_id, name="gold.jsonl")
        assert hashlib.sha256(found.path.read_bytes()).hexdigest() == found.entry.sha256
        assert found.download_name == "demo-v1-gold.jsonl"
        for name in ("extra.txt", "../v1/gold.jsonl", "/etc/passwd", "", "images"):
            with pytest.raises(NotFound):
                find_release_file(db, by=BY, release_id=release_id, name=name)


def test_a_manifest_that_was_changed_gives_no_files(sqlite_world, tmp_path):
    release_id = record(sqlite_world, write(sqlite_world, tmp_path / "v1"))
    path = tmp_path / "v1" / "manifest.json"
    path.write_text(path.read_text().replace('"seed": 7', '"seed": 8'))
    assert verify_release(tmp_path / "v1").ok  # its own files are consistent
    with read_only_session(sqlite_world.engine) as db:
        report = verify_recorded_release(db, by=BY, release_id=release_id)
        assert report.faults == ("manifest.json: not the one that was recorded when the release was made",)
        with pytest.raises(Refused, match="was changed"):
            list_release_files(db, by=BY, release_id=release_id)
