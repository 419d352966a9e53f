"""A release and its pixels: a removed image removes its questions, and rules may require a check."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from accounts.service import command_line_person
from domain.errors import Refused
from domain.gold import ExclusionReason
from domain.patient_data import PixelCheckScope, PixelDecision
from privacy.service import change_rules, decide_images
from release.service import preview_release
from storage.rows.datasets import ImageRow, RadiographRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.golden.release_world import make_judged_world, write_test_release
from tests.storage.worlds import NOW

BY = command_line_person()
SHA256 = "a" * 64


@pytest.fixture
def world(sqlite_engine):
    world = make_judged_world(sqlite_engine)
    with unit_of_work(sqlite_engine) as db:
        db.add(
            ImageRow(
                sha256=SHA256, media_type="application/dicom", bytes=1, rows=10, columns=10, bits=12,
                photometric="MONOCHROME2",
            )
        )  # fmt: skip
        db.flush()
        for row in db.execute(select(RadiographRow)).scalars():
            row.image_sha256 = SHA256
    return world


def decide_image(world, decision):
    with unit_of_work(world.engine) as db:
        decide_images(db, by=BY, decisions=[(SHA256, decision)], now=NOW)


def require_check(world, rule):
    with unit_of_work(world.engine) as db:
        change_rules(db, by=BY, confirm_pixels=rule, revision=0, now=NOW)


def test_questions_on_a_removed_image_are_excluded(world):
    with read_only_session(world.engine) as db:
        before = preview_release(db, by=BY, dataset="demo")
    decide_image(world, PixelDecision.REMOVE)
    with read_only_session(world.engine) as db:
        after = preview_release(db, by=BY, dataset="demo")
    assert after.released == 0
    assert after.excluded[ExclusionReason.PATIENT_DATA_IN_IMAGE.value] == before.released > 0


def test_pixel_check_is_not_required_by_default(world, tmp_path):
    assert write_test_release(world, tmp_path / "v1").tally.released > 0


@pytest.mark.parametrize("rule", [PixelCheckScope.DICOM, PixelCheckScope.ALL])
def test_required_pixel_check_blocks_the_release_until_done(world, tmp_path, rule):
    require_check(world, rule)
    with pytest.raises(Refused, match=r"1 of the .* have not been checked"):
        write_test_release(world, tmp_path / "v1")
    decide_image(world, PixelDecision.NO_PATIENT_TEXT)
    assert write_test_release(world, tmp_path / "v1").tally.released > 0
