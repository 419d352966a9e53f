"""Image files in a folder and in a bucket behave alike, on a real disk and over real HTTP."""

from __future__ import annotations

import hashlib

import pytest

from domain.errors import InvalidValue, NotFound, NotNow, Refused
from storage.images.files import get_image_store, read_image, store_image
from storage.workspace import Workspace, current_workspace
from tests.storage.bucket_server import BUCKET, running_bucket_server

CONTENT = b"a radiograph's bytes, as they came"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(scope="module")
def server():
    with running_bucket_server() as bucket_server:
        yield bucket_server


@pytest.fixture(params=["folder", "bucket"])
def workspace(request, tmp_path, monkeypatch):
    if request.param == "bucket":
        server = request.getfixturevalue("server")
        for name, value in server.settings(tmp_path.name).items():
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "home"))
    return current_workspace()


def alter_stored_image(workspace: Workspace, content: bytes) -> None:
    """Replace the bytes of the stored image without the workspace's knowledge."""
    get_image_store(workspace).write(SHA256, content)


@pytest.mark.slow
def test_stored_image_is_read_back_unchanged(workspace):
    assert store_image(workspace, content=CONTENT) == SHA256
    assert read_image(workspace, sha256=SHA256) == CONTENT


@pytest.mark.slow
def test_store_contains_an_image_once_it_is_stored(workspace):
    store = get_image_store(workspace)
    assert not store.contains(SHA256)
    store_image(workspace, content=CONTENT)
    assert store.contains(SHA256)


def test_same_bytes_are_stored_once(workspace):
    assert store_image(workspace, content=CONTENT) == store_image(workspace, content=CONTENT)


def test_local_copy_has_the_same_bytes(workspace):
    store_image(workspace, content=CONTENT)
    with get_image_store(workspace).local_file(SHA256) as path:
        assert path.read_bytes() == CONTENT


def test_missing_file_is_reported_as_missing(workspace):
    with pytest.raises(NotFound, match=f"has no image {SHA256}; import it again"):
        read_image(workspace, sha256=SHA256)
    with pytest.raises(NotFound, match="import it again"), get_image_store(workspace).local_file(SHA256):
        pass


def test_altered_image_is_refused(workspace):
    alter_stored_image(workspace, b"other bytes")
    with pytest.raises(Refused, match=f"The stored image {SHA256} was changed"):
        read_image(workspace, sha256=SHA256)


def test_file_can_be_removed_twice(workspace):
    store_image(workspace, content=CONTENT)
    for _ in range(2):
        get_image_store(workspace).remove(SHA256)
    assert not get_image_store(workspace).contains(SHA256)


@pytest.mark.slow
def test_working_store_passes_its_check(workspace):
    get_image_store(workspace).check()


def test_name_that_is_no_sha256_is_refused(workspace):
    with pytest.raises(ValueError, match="not a SHA-256"):
        get_image_store(workspace).read("../../etc/passwd")


@pytest.mark.slow
def test_missing_bucket_fails_its_check(server, tmp_path, monkeypatch):
    for name, value in server.settings("x").items():
        monkeypatch.setenv(name, value.replace(BUCKET, "no-such-bucket"))
    with pytest.raises(NotNow, match="no-such-bucket"):
        get_image_store(current_workspace()).check()


@pytest.mark.slow
def test_unreachable_server_is_reported(monkeypatch):
    settings = {
        "OVERREAD_IMAGES": "s3://somewhere/images",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",  # discard service: nothing listens
        "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1",
    }  # fmt: skip
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(NotNow, match="s3://somewhere/images could not be reached"):
        read_image(current_workspace(), sha256=SHA256)


@pytest.mark.parametrize(
    "address_text", ["https://bucket/images", "s3://", "s3://bucket/../etc", "/srv/images"]
)
def test_address_that_is_no_bucket_is_refused(monkeypatch, address_text):
    monkeypatch.setenv("OVERREAD_IMAGES", address_text)
    with pytest.raises(InvalidValue, match=r"OVERREAD_IMAGES: .* is not of the form s3://bucket/prefix"):
        current_workspace()
