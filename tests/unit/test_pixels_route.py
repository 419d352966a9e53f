"""GET /pixels/…: the stored values for the viewer, and no byte of them for anybody else, by raw HTTP."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sqlalchemy import update

from accounts import service as accounts
from storage.images.files import image_path
from storage.rows import RadiographRow, SignInRow
from storage.unit_of_work import unit_of_work
from storage.workspace import current_workspace
from tests.unit.conftest import PLATE_SHA256
from tests.unit.makers.dicom_files import dicom, ramp
from tests.unit.makers.sent_pixels import decode_matrix

MATRIX = "/pixels/1/pa"
FACTS = "/pixels/1/pa/facts"
BOTH = pytest.mark.parametrize("address", [MATRIX, FACTS])


def test_a_reviewer_with_a_question_on_the_exam_gets_the_stored_values(browser_of):
    answer = browser_of("ruth").get(MATRIX)
    assert answer.status_code == 200
    assert answer.headers["content-encoding"] == "gzip"
    # the client has decompressed the gzip, as a browser does
    values = decode_matrix(gzip.compress(answer.content), rows=300, columns=400, bits=12)
    assert np.array_equal(values, ramp(300, 400))


def test_the_facts_say_how_they_are_shown(browser_of):
    facts = browser_of("ruth").get(FACTS).json()
    assert (facts["rows"], facts["columns"], facts["bits"]) == (300, 400, 12)
    assert facts["inverted"] is True
    assert facts["view"] == "PA"


def test_the_facts_hold_nothing_of_the_patient(browser_of):
    said = browser_of("ruth").get(FACTS).text
    assert not any(secret in said for secret in ("Secret", "MRN", "058Y"))


@BOTH
def test_a_coordinator_gets_them(browser_of, address):
    assert browser_of("cora").get(address).status_code == 200


@BOTH
@pytest.mark.parametrize(("name", "status"), [(None, 401), ("remo", 403), ("rea", 403), ("ada", 403)])
def test_everybody_else_gets_no_byte_of_them(browser_of, address, name, status):
    browser_of("ruth").get(address)  # so that it is in the cache
    answer = browser_of(name).get(address)
    assert answer.status_code == status
    assert set(answer.json()) == {"error", "kind"}
    assert "etag" not in answer.headers


@BOTH
def test_a_sign_in_that_has_run_out_gets_nothing(browser_of, address):
    ruth = browser_of("ruth")
    assert ruth.get(address).status_code == 200
    with unit_of_work() as db:
        db.execute(update(SignInRow).values(last_seen_at=datetime.now(UTC) - timedelta(hours=13)))
    assert ruth.get(address).status_code == 401


@BOTH
def test_whoever_signed_out_gets_nothing(browser_of, address):
    ruth = browser_of("ruth")
    with unit_of_work() as db:
        accounts.sign_out(db, token="token-of-ruth", now=datetime.now(UTC))
    assert ruth.get(address).status_code == 401


@BOTH
def test_a_reviewer_who_was_disabled_gets_nothing(browser_of, address):
    ruth = browser_of("ruth")
    with unit_of_work() as db:
        accounts.disable_person(db, by=accounts.command_line_person(), name="ruth", now=datetime.now(UTC))
    assert ruth.get(address).status_code == 401


@BOTH
def test_the_mark_of_the_browsers_copy_is_no_way_round_the_question_who_asks(browser_of, address):
    mark = browser_of("ruth").get(address).headers["etag"]
    assert browser_of("remo").get(address, headers={"If-None-Match": mark}).status_code == 403
    assert browser_of(None).get(address, headers={"If-None-Match": mark}).status_code == 401


@BOTH
def test_a_browser_that_has_them_gets_304_and_nothing(browser_of, address):
    ruth = browser_of("ruth")
    mark = ruth.get(address).headers["etag"]
    answer = ruth.get(address, headers={"If-None-Match": mark})
    assert (answer.status_code, answer.content) == (304, b"")


@BOTH
def test_the_browser_asks_each_time_and_no_proxy_keeps_them(browser_of, address):
    headers = browser_of("ruth").get(address).headers
    assert headers["cache-control"] == "private, no-cache"
    assert headers["vary"] == "Cookie"


@BOTH
@pytest.mark.parametrize("other", ["/pixels/1/nothing", "/pixels/999/pa", "/pixels/1/", "/pixels/1//facts"])
def test_what_is_not_there_is_not_found(browser_of, address, other):
    assert browser_of("cora").get(other).status_code == 404


def test_both_are_made_at_once_under_names_without_exam_or_radiograph(browser_of):
    browser_of("ruth").get(FACTS)
    kept = [path.name for path in current_workspace().cache.rglob("*") if path.is_file()]
    assert len(kept) == 2
    assert all(name.startswith(PLATE_SHA256) for name in kept)


def test_what_was_kept_is_not_made_again(browser_of):
    ruth = browser_of("ruth")
    first = ruth.get(MATRIX).content
    image_path(current_workspace(), sha256=PLATE_SHA256).write_bytes(b"no image any more")
    assert ruth.get(MATRIX).content == first


def test_a_file_that_is_missing_from_the_workspace_is_said_to_be(browser_of):
    answer = browser_of("ruth").get("/pixels/1/lateral")
    assert answer.status_code == 404
    assert "import the images again" in answer.json()["error"]


def test_a_file_that_can_not_be_shown_says_why(browser_of):
    image_path(current_workspace(), sha256=PLATE_SHA256).write_bytes(dicom(HighBit=15))
    answer = browser_of("ruth").get(MATRIX)
    assert answer.status_code == 422
    assert "Radiograph pa of exam 1: HighBit (0028,0102)" in answer.json()["error"]


@pytest.mark.parametrize(
    ("key", "segment"),
    [
        ("facts", "facts"),
        ("a/facts", "a%2Ffacts"),
        ("a b#c?d", "a%20b%23c%3Fd"),
        ("50%2F", "50%252F"),
        ("ü/ß", "%C3%BC%2F%C3%9F"),
        ("plain/slash", "plain/slash"),
    ],
)
def test_a_key_may_hold_any_sign(browser_of, key, segment):
    with unit_of_work() as db:
        db.execute(update(RadiographRow).where(RadiographRow.key == "pa").values(key=key))
    ruth = browser_of("ruth")
    assert ruth.get(f"/pixels/1/{segment}").headers["content-type"] == "application/octet-stream"
    assert ruth.get(f"/pixels/1/{segment}/facts").json()["rows"] == 300
