"""GET /pixels/…, by raw HTTP: stored values for permitted people, and no byte for others."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sqlalchemy import update

from accounts import service as accounts
from storage.images.files import image_path
from storage.rows.datasets import RadiographRow
from storage.rows.people import SignInRow
from storage.unit_of_work import unit_of_work
from storage.workspace import current_workspace
from tests.unit.conftest import PLATE_SHA256
from tests.unit.makers.dicom_files import dicom, ramp
from tests.unit.makers.matrix_decoder import decode_matrix

MATRIX_URL = "/pixels/1/pa"
METADATA_URL = "/pixels/1/pa/metadata"
BOTH_URLS = pytest.mark.parametrize("address", [MATRIX_URL, METADATA_URL])


@pytest.mark.slow
def test_a_reviewer_with_a_question_on_the_exam_gets_the_stored_values(browser_of):
    response = browser_of("ruth").get(MATRIX_URL)
    assert response.status_code == 200
    assert response.headers["content-encoding"] == "gzip"
    # the client has decompressed the gzip, as a browser does
    values = decode_matrix(gzip.compress(response.content), rows=300, columns=400, bits=12)
    assert np.array_equal(values, ramp(300, 400))


def test_the_facts_describe_how_to_display_the_pixels(browser_of):
    facts = browser_of("ruth").get(METADATA_URL).json()
    assert (facts["rows"], facts["columns"], facts["bits"]) == (300, 400, 12)
    assert facts["inverted"] is True
    assert facts["view"] == "PA"


def test_the_facts_contain_no_patient_data(browser_of):
    response_text = browser_of("ruth").get(METADATA_URL).text
    assert not any(secret in response_text for secret in ("Secret", "MRN", "058Y"))


@BOTH_URLS
def test_a_coordinator_gets_pixels_and_facts(browser_of, address):
    assert browser_of("cora").get(address).status_code == 200


@BOTH_URLS
# remo is a reviewer without a question on the exam, rea a reader, ada an admin.
@pytest.mark.parametrize(("name", "status"), [(None, 401), ("remo", 403), ("rea", 403), ("ada", 403)])
def test_other_people_get_neither_pixels_nor_facts(browser_of, address, name, status):
    browser_of("ruth").get(address)  # fills the cache, so that the next request could be served from it
    response = browser_of(name).get(address)
    assert response.status_code == status
    assert set(response.json()) == {"error", "kind"}
    assert "etag" not in response.headers


@BOTH_URLS
def test_an_expired_sign_in_is_refused(browser_of, address):
    ruth = browser_of("ruth")
    assert ruth.get(address).status_code == 200
    with unit_of_work() as db:
        db.execute(update(SignInRow).values(last_seen_at=datetime.now(UTC) - timedelta(hours=13)))
    assert ruth.get(address).status_code == 401


@BOTH_URLS
def test_a_signed_out_person_is_refused(browser_of, address):
    ruth = browser_of("ruth")
    with unit_of_work() as db:
        accounts.sign_out(db, token="token-of-ruth", now=datetime.now(UTC))
    assert ruth.get(address).status_code == 401


@BOTH_URLS
def test_a_disabled_reviewer_is_refused(browser_of, address):
    ruth = browser_of("ruth")
    with unit_of_work() as db:
        accounts.disable_person(db, by=accounts.command_line_person(), name="ruth", now=datetime.now(UTC))
    assert ruth.get(address).status_code == 401


@BOTH_URLS
def test_an_etag_does_not_bypass_the_permission_check(browser_of, address):
    etag = browser_of("ruth").get(address).headers["etag"]
    assert browser_of("remo").get(address, headers={"If-None-Match": etag}).status_code == 403
    assert browser_of(None).get(address, headers={"If-None-Match": etag}).status_code == 401


@BOTH_URLS
def test_a_browser_with_a_current_copy_gets_304(browser_of, address):
    ruth = browser_of("ruth")
    etag = ruth.get(address).headers["etag"]
    response = ruth.get(address, headers={"If-None-Match": etag})
    assert (response.status_code, response.content) == (304, b"")


@BOTH_URLS
def test_responses_are_revalidated_and_not_cached_by_proxies(browser_of, address):
    headers = browser_of("ruth").get(address).headers
    assert headers["cache-control"] == "private, no-cache"
    assert headers["vary"] == "Cookie"


@pytest.mark.parametrize(
    "address", ["/pixels/1/nothing", "/pixels/999/pa", "/pixels/1/", "/pixels/1//metadata"]
)
def test_a_missing_radiograph_is_not_found(browser_of, address):
    assert browser_of("cora").get(address).status_code == 404


def test_pixels_and_facts_are_cached_together_under_the_image_hash(browser_of):
    browser_of("ruth").get(METADATA_URL)
    cached_names = [path.name for path in current_workspace().cache.rglob("*") if path.is_file()]
    assert len(cached_names) == 2
    assert all(name.startswith(PLATE_SHA256) for name in cached_names)


def test_cached_pixels_are_not_computed_again(browser_of):
    ruth = browser_of("ruth")
    first_content = ruth.get(MATRIX_URL).content
    image_path(current_workspace(), sha256=PLATE_SHA256).write_bytes(b"no image any more")
    assert ruth.get(MATRIX_URL).content == first_content


def test_a_file_missing_from_the_workspace_is_reported(browser_of):
    response = browser_of("ruth").get("/pixels/1/lateral")
    assert response.status_code == 404
    assert "import the images again" in response.json()["error"]


def test_an_unreadable_file_is_refused_with_the_reason(browser_of):
    image_path(current_workspace(), sha256=PLATE_SHA256).write_bytes(dicom(HighBit=15))
    response = browser_of("ruth").get(MATRIX_URL)
    assert response.status_code == 422
    assert "Radiograph pa of exam 1: HighBit (0028,0102)" in response.json()["error"]


@pytest.mark.parametrize(
    ("key", "segment"),
    [
        ("metadata", "metadata"),
        ("a/metadata", "a%2Fmetadata"),
        ("a b#c?d", "a%20b%23c%3Fd"),
        ("50%2F", "50%252F"),
        ("ü/ß", "%C3%BC%2F%C3%9F"),
        ("plain/slash", "plain/slash"),
    ],
)
def test_a_radiograph_key_may_contain_any_character(browser_of, key, segment):
    with unit_of_work() as db:
        db.execute(update(RadiographRow).where(RadiographRow.key == "pa").values(key=key))
    ruth = browser_of("ruth")
    assert ruth.get(f"/pixels/1/{segment}").headers["content-type"] == "application/octet-stream"
    assert ruth.get(f"/pixels/1/{segment}/metadata").json()["rows"] == 300
