"""GET /radiographs/…: who may fetch an image; the requests pass the access middleware."""

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


@pytest.mark.slow
def test_a_reviewer_with_a_question_on_the_exam_gets_the_image(browser_of):
    response = browser_of("ruth").get(ADDRESS)
    picture = Image.open(io.BytesIO(response.content))
    assert response.status_code == 200
    assert response.headers["content-type"] == "image/jpeg"
    assert (picture.format, picture.size) == ("JPEG", (400, 300))
    assert np.asarray(picture)[0, 0] > 200  # MONOCHROME1: the lowest value is white


@pytest.mark.slow
def test_a_coordinator_gets_the_image(browser_of):
    assert browser_of("cora").get(ADDRESS).status_code == 200


@pytest.mark.parametrize(("name", "status"), [(None, 401), ("remo", 403), ("rea", 403), ("ada", 403)])
def test_other_people_get_no_byte_of_the_image(browser_of, name, status):
    browser_of("ruth").get(ADDRESS)  # fills the cache
    response = browser_of(name).get(ADDRESS)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    assert b"\xff\xd8\xff" not in response.content


def test_an_invalid_cookie_is_rejected(browser_of):
    stranger = browser_of(None)
    stranger.cookies["overread"] = "token-of-another-person"
    assert stranger.get(ADDRESS).status_code == 401


def test_a_disabled_reviewer_is_refused(browser_of, world):
    ruth = browser_of("ruth")
    assert ruth.get(ADDRESS).status_code == 200
    with unit_of_work() as db:
        accounts.disable_person(db, by=accounts.command_line_person(), name="ruth", now=datetime.now(UTC))
    assert ruth.get(ADDRESS).status_code == 401


def test_an_etag_does_not_bypass_the_permission_check(browser_of):
    etag = browser_of("ruth").get(ADDRESS).headers["etag"]
    assert browser_of("remo").get(ADDRESS, headers={"If-None-Match": etag}).status_code == 403


def test_a_browser_with_the_current_image_gets_304(browser_of):
    ruth = browser_of("ruth")
    etag = ruth.get(ADDRESS).headers["etag"]
    response = ruth.get(ADDRESS, headers={"If-None-Match": etag})
    assert (response.status_code, response.content) == (304, b"")


def test_the_image_is_cached_per_sign_in_and_not_by_proxies(browser_of):
    headers = browser_of("ruth").get(ADDRESS).headers
    assert headers["cache-control"] == "private, no-cache"
    assert headers["vary"] == "Cookie"


def test_a_smaller_image_has_its_own_etag(browser_of):
    ruth = browser_of("ruth")
    small, full = ruth.get(f"{ADDRESS}?longest=300"), ruth.get(ADDRESS)
    assert Image.open(io.BytesIO(small.content)).size == (300, 225)
    assert small.headers["etag"] != full.headers["etag"]


def test_another_window_gives_another_image(browser_of):
    ruth = browser_of("ruth")
    windowed, full = ruth.get(f"{ADDRESS}?window=100,50"), ruth.get(ADDRESS)
    assert windowed.status_code == 200
    assert windowed.content != full.content
    assert windowed.headers["etag"] != full.headers["etag"]


@pytest.mark.parametrize("query", ["longest=99999", "longest=-1", "window=1", "window=a,b", "window=1,0"])
def test_the_error_of_an_invalid_size_or_window_names_the_parameter(browser_of, query):
    response = browser_of("ruth").get(f"{ADDRESS}?{query}")
    assert response.status_code == 422
    assert query.split("=")[0] in response.json()["error"]


def test_a_missing_radiograph_is_not_found(browser_of):
    assert browser_of("ruth").get("/radiographs/1/nothing").status_code == 404
    cora = browser_of("cora")
    assert cora.get("/radiographs/999/pa").status_code == 404
    assert cora.get(f"/radiographs/{2**63}/pa").status_code == 404


def test_a_file_missing_from_the_workspace_is_reported(browser_of):
    response = browser_of("ruth").get("/radiographs/1/lateral")
    assert response.status_code == 404
    assert "import the images again" in response.json()["error"]


def test_an_unreadable_file_is_refused_with_the_reason(browser_of):
    image_path(current_workspace(), sha256=f"{1:062d}{0:02d}").write_bytes(dicom(HighBit=15))
    response = browser_of("ruth").get(ADDRESS)
    assert response.status_code == 422
    assert "Radiograph pa of exam 1: HighBit (0028,0102)" in response.json()["error"]


def test_cache_names_contain_neither_exam_nor_radiograph(browser_of):
    browser_of("ruth").get(ADDRESS)
    cached_files = [path for path in current_workspace().cache.rglob("*") if path.is_file()]
    assert [path.name for path in cached_files] == [f"{1:062d}{0:02d}-full-q90-r1.jpg"]
