"""GET /radiographs/…: who gets an image and who gets no byte of it, by raw HTTP behind the gate."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import numpy as np
import pytest
from PIL import Image

from accounts import service as accounts
from storage.images.files import image_path
from storage.unit_of_work import unit_of_work
from storage.workspace import current_workspace
from tests.unit.makers.dicom_files import dicom

ADDRESS = "/radiographs/1/pa"


def test_a_reviewer_with_a_question_on_the_exam_gets_the_picture(browser_of):
    answer = browser_of("ruth").get(ADDRESS)
    picture = Image.open(io.BytesIO(answer.content))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "image/jpeg"
    assert (picture.format, picture.size) == ("JPEG", (400, 300))
    assert np.asarray(picture)[0, 0] > 200  # MONOCHROME1: the lowest value is white


def test_a_coordinator_gets_the_picture(browser_of):
    assert browser_of("cora").get(ADDRESS).status_code == 200


@pytest.mark.parametrize(("name", "status"), [(None, 401), ("remo", 403), ("rea", 403), ("ada", 403)])
def test_everybody_else_gets_no_byte_of_it(browser_of, name, status):
    browser_of("ruth").get(ADDRESS)  # so that it is in the cache
    answer = browser_of(name).get(ADDRESS)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    assert b"\xff\xd8\xff" not in answer.content


def test_a_cookie_that_does_not_hold_is_no_cookie(browser_of):
    stranger = browser_of(None)
    stranger.cookies["overread"] = "token-of-somebody"
    assert stranger.get(ADDRESS).status_code == 401


def test_a_reviewer_who_was_disabled_gets_no_more(browser_of, world):
    ruth = browser_of("ruth")
    assert ruth.get(ADDRESS).status_code == 200
    with unit_of_work() as db:
        accounts.disable_person(db, by=accounts.command_line_person(), name="ruth", now=datetime.now(UTC))
    assert ruth.get(ADDRESS).status_code == 401


def test_the_mark_of_the_browsers_copy_is_no_way_round_the_question_who_asks(browser_of):
    mark = browser_of("ruth").get(ADDRESS).headers["etag"]
    assert browser_of("remo").get(ADDRESS, headers={"If-None-Match": mark}).status_code == 403


def test_a_browser_that_has_the_picture_gets_304_and_nothing(browser_of):
    ruth = browser_of("ruth")
    mark = ruth.get(ADDRESS).headers["etag"]
    answer = ruth.get(ADDRESS, headers={"If-None-Match": mark})
    assert (answer.status_code, answer.content) == (304, b"")


def test_no_proxy_keeps_the_picture_and_no_other_sign_in_gets_it(browser_of):
    headers = browser_of("ruth").get(ADDRESS).headers
    assert headers["cache-control"] == "private, no-cache"
    assert headers["vary"] == "Cookie"


def test_a_smaller_picture_has_a_mark_of_its_own(browser_of):
    ruth = browser_of("ruth")
    small, full = ruth.get(f"{ADDRESS}?longest=300"), ruth.get(ADDRESS)
    assert Image.open(io.BytesIO(small.content)).size == (300, 225)
    assert small.headers["etag"] != full.headers["etag"]


def test_another_window_is_another_picture(browser_of):
    ruth = browser_of("ruth")
    dark, full = ruth.get(f"{ADDRESS}?window=100,50"), ruth.get(ADDRESS)
    assert dark.status_code == 200
    assert dark.content != full.content
    assert dark.headers["etag"] != full.headers["etag"]


@pytest.mark.parametrize("wanted", ["longest=99999", "longest=-1", "window=1", "window=a,b", "window=1,0"])
def test_what_is_no_size_or_window_is_refused_by_name(browser_of, wanted):
    answer = browser_of("ruth").get(f"{ADDRESS}?{wanted}")
    assert answer.status_code == 422
    assert wanted.split("=")[0] in answer.json()["error"]


def test_a_radiograph_that_is_not_there_is_not_found(browser_of):
    assert browser_of("ruth").get("/radiographs/1/nothing").status_code == 404
    cora = browser_of("cora")
    assert cora.get("/radiographs/999/pa").status_code == 404
    assert cora.get(f"/radiographs/{2**63}/pa").status_code == 404


def test_a_file_that_is_missing_from_the_workspace_is_said_to_be(browser_of):
    answer = browser_of("ruth").get("/radiographs/1/lateral")
    assert answer.status_code == 404
    assert "import the images again" in answer.json()["error"]


def test_a_file_that_can_not_be_shown_says_why(browser_of):
    image_path(current_workspace(), sha256=f"{1:062d}{0:02d}").write_bytes(dicom(HighBit=15))
    answer = browser_of("ruth").get(ADDRESS)
    assert answer.status_code == 422
    assert "Radiograph pa of exam 1: HighBit (0028,0102)" in answer.json()["error"]


def test_the_cache_names_neither_exam_nor_radiograph(browser_of):
    browser_of("ruth").get(ADDRESS)
    kept = [path for path in current_workspace().cache.rglob("*") if path.is_file()]
    assert [path.name for path in kept] == [f"{1:062d}{0:02d}-full-q90-r1.jpg"]
