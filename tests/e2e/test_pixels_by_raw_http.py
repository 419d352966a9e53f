"""The pixel routes of the running app, by raw HTTP: no browser, no client library."""

from __future__ import annotations

import gzip
import http.client
import json
from datetime import UTC, datetime
from urllib.parse import urlsplit

import numpy as np
import pytest
from sqlalchemy import update

from accounts import service as accounts
from storage.rows.datasets import RadiographRow
from storage.unit_of_work import unit_of_work
from tests.e2e.conftest import RunningApp
from tests.storage.worlds import make_world
from tests.unit.makers.dicom_files import dicom, ramp
from tests.unit.makers.matrix_decoder import decode_matrix

KEY = "a/b c"
MATRIX = "/pixels/1/a%2Fb%20c"
PATHS = (MATRIX, f"{MATRIX}/metadata")


@pytest.fixture(scope="module")
def app_with_exam(app: RunningApp) -> RunningApp:
    """Ruth has questions on exam 1, remo has none; both are signed in."""
    world = make_world(app.engine, assigned_to=("ruth",))
    path = app.home / "images" / "00" / f"{1:062d}{0:02d}"
    path.parent.mkdir(parents=True)
    path.write_bytes(dicom(ramp(30, 40, signed=True)))
    with unit_of_work(app.engine) as db:
        db.execute(update(RadiographRow).where(RadiographRow.key == "pa").values(key=KEY))
        for name in ("ruth", "remo"):
            accounts.start_sign_in(
                db,
                person=world.people[name],
                token=f"token-of-{name}",
                previous_token=None,
                now=datetime.now(UTC),
            )
    return app


def get(
    app: RunningApp, path: str, name: str | None, **headers: str
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(urlsplit(app.url).netloc, timeout=30)
    cookie = {} if name is None else {"Cookie": f"overread=token-of-{name}"}
    connection.request("GET", path, headers={**cookie, **headers})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def test_reviewer_gets_the_matrix_and_its_metadata(app_with_exam):
    metadata = json.loads(get(app_with_exam, PATHS[1], "ruth")[1])
    response, content = get(app_with_exam, MATRIX, "ruth")
    assert response.headers["Content-Encoding"] == "gzip"
    values = decode_matrix(content, rows=metadata["rows"], columns=metadata["columns"], bits=metadata["bits"])
    assert np.array_equal(values.astype(int) - metadata["offset"], ramp(30, 40, signed=True))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("name", "status"), [(None, 401), ("nobody", 401), ("remo", 403)])
def test_other_people_get_no_pixels(app_with_exam, path, name, status):
    response, content = get(app_with_exam, path, name)
    assert response.status == status
    assert response.headers["ETag"] is None
    assert gzip.compress(b"")[:2] not in content
    assert set(json.loads(content)) == {"error", "kind"}


@pytest.mark.parametrize("path", PATHS)
def test_cached_pixels_are_answered_with_304(app_with_exam, path):
    etag = get(app_with_exam, path, "ruth")[0].headers["ETag"]
    response, content = get(app_with_exam, path, "ruth", **{"If-None-Match": etag})
    assert (response.status, content) == (304, b"")


def test_no_pixels_are_served_after_signing_out(app_with_exam):
    etags = [get(app_with_exam, path, "ruth")[0].headers["ETag"] for path in PATHS]
    with unit_of_work(app_with_exam.engine) as db:
        accounts.sign_out(db, token="token-of-ruth", now=datetime.now(UTC))
    responses = [
        get(app_with_exam, path, "ruth", **{"If-None-Match": etag})
        for path, etag in zip(PATHS, etags, strict=True)
    ]
    assert [response.status for response, _ in responses] == [401, 401]
