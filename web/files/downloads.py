"""Downloads: files of releases, lists of refused records, mapping files and templates of tables.

Streamlit's download button can serve stale bytes, and Streamlit's media files need no sign-in. These routes
check sign-in and role at each request, send exactly the bytes that they hash, and send the hash in a header.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from domain.errors import NotFound, Refused
from domain.people import Action, Person, require
from release import service as releases
from storage.unit_of_work import read_only_session
from storage.workspace import current_workspace
from web.requests import json_errors, require_person

_CHUNK_SIZE = 1 << 18
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_MEDIA_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".toml": "application/toml",
    ".zip": "application/zip",
}


@json_errors
async def download_release_file(request: Request) -> Response:
    """GET /files/releases/{id}/{path}: one file of a release, by its path in the manifest."""
    person = await require_person(request)
    release_id, manifest_path = request.path_params["release_id"], request.path_params["name"]
    file = await run_in_threadpool(_find_release_file, person, release_id, manifest_path)
    return await run_in_threadpool(_build_file_response, file.path, file.download_name, file.entry.sha256)


@json_errors
async def download_release(request: Request) -> Response:
    """GET /files/releases/{id}.zip: all files of a release. Its manifest has their hashes."""
    person = await require_person(request)
    files = await run_in_threadpool(_find_release_files, person, request.path_params["release_id"])
    folder_name = files[0].download_name.removesuffix("-manifest.json")
    headers = _headers(f"{folder_name}.zip") | {"X-Manifest-SHA256": files[0].entry.sha256}
    return StreamingResponse(
        _zip_chunks([(file.path, file.entry.path) for file in files], folder_name),
        media_type=_MEDIA_TYPES[".zip"],
        headers=headers,
    )


@json_errors
async def download_training_data(request: Request) -> Response:
    """GET /files/training/{id}/{name}.zip: training data of a release."""
    person = await require_person(request)
    release_id, name = request.path_params["release_id"], request.path_params["name"]
    training = await run_in_threadpool(_find_training_data, person, release_id, name)
    paths = sorted(path for path in training.folder.rglob("*") if path.is_file())
    members = [(path, path.relative_to(training.folder).as_posix()) for path in paths]
    return StreamingResponse(
        _zip_chunks(members, training.download_name),
        media_type=_MEDIA_TYPES[".zip"],
        headers=_headers(f"{training.download_name}.zip"),
    )


@json_errors
async def download_refusals(request: Request) -> Response:
    """GET /files/refusals/{name}: the list of records that an import refused."""
    person = await require_person(request)
    require(person, Action.IMPORT_QUESTIONS)
    name = request.path_params["name"]
    path = current_workspace().refusals / name
    if not _SAFE_NAME.fullmatch(name) or path.is_symlink() or not path.is_file():
        raise NotFound("This list of invalid records does not exist.")
    return await run_in_threadpool(_build_file_response, path, name, None)


@json_errors
async def download_mapping(request: Request) -> Response:
    """GET /files/mappings/{name}: a mapping file that was saved on the page Import."""
    person = await require_person(request)
    require(person, Action.IMPORT_QUESTIONS)
    name = request.path_params["name"]
    path = current_workspace().mappings / name
    if not _SAFE_NAME.fullmatch(name) or path.is_symlink() or not path.is_file():
        raise NotFound("This mapping file does not exist.")
    return await run_in_threadpool(_build_file_response, path, name, None)


@json_errors
async def download_template(request: Request) -> Response:
    """GET /files/templates/questions.{kind}: a table to fill in with questions."""
    from intake.service.tables import KINDS, build_template  # noqa: PLC0415 - imports all file readers, not needed at start

    person = await require_person(request)
    require(person, Action.IMPORT_QUESTIONS)
    kind = request.path_params["kind"]
    if kind not in KINDS:
        raise NotFound(f"There is no template {kind!r}. Available: {', '.join(KINDS)}.")
    content = await run_in_threadpool(build_template, kind)
    return Response(content, media_type="application/octet-stream", headers=_headers(f"questions.{kind}"))


def _find_release_file(person: Person, release_id: int, manifest_path: str) -> releases.ReleaseFile:
    with read_only_session() as db:
        return releases.find_release_file(db, by=person, release_id=release_id, name=manifest_path)


def _find_release_files(person: Person, release_id: int) -> list[releases.ReleaseFile]:
    with read_only_session() as db:
        files = releases.list_release_files(db, by=person, release_id=release_id)
    missing = [file.entry.path for file in files if not file.path.is_file()]
    if missing:
        raise NotFound(
            f"The release is incomplete: {missing[0]} is missing. Create it again in another folder."
        )
    return files


def _find_training_data(person: Person, release_id: int, name: str) -> releases.TrainingData:
    with read_only_session() as db:
        return releases.find_training_data(
            db, by=person, workspace=current_workspace(), release_id=release_id, name=name
        )


def _build_file_response(path: Path, download_name: str, sha256: str | None) -> Response:
    """Return the file as an attachment. It is hashed and then sent from the same open handle.

    Raises:
        NotFound: the file is missing.
        Refused: its bytes do not match the manifest.
    """
    file = _open_file(path)
    actual_sha256, length = _hash_file(file)
    if sha256 is not None and actual_sha256 != sha256:
        file.close()
        raise Refused(
            f"{path.name} was changed after the release was created and cannot be downloaded. Create "
            "the release again in another folder."
        )
    headers = _headers(download_name) | {"X-Content-SHA256": actual_sha256, "Content-Length": str(length)}
    media_type = _MEDIA_TYPES.get(path.suffix, "application/octet-stream")
    return StreamingResponse(_read_chunks(file), media_type=media_type, headers=headers)


def _open_file(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise NotFound(f"{path.name} is no longer in the folder where it was created.") from error


def _hash_file(file: BinaryIO) -> tuple[str, int]:
    digest, length = hashlib.sha256(), 0
    while block := file.read(_CHUNK_SIZE):
        digest.update(block)
        length += len(block)
    file.seek(0)
    return digest.hexdigest(), length


def _read_chunks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while block := file.read(_CHUNK_SIZE):
            yield block


def _headers(download_name: str) -> dict[str, str]:
    ascii_name = re.sub(r"[^A-Za-z0-9._-]+", "-", download_name)
    encoded_name = quote(download_name, safe="")
    return {
        "Content-Disposition": f"attachment; filename=\"{ascii_name}\"; filename*=UTF-8''{encoded_name}",
        "Cache-Control": "no-store",
    }


class _ZipStream:
    """A write-only, unseekable stream from which the bytes of the archive are drained."""

    def __init__(self) -> None:
        self._pending: list[bytes] = []

    def write(self, content: bytes) -> int:
        self._pending.append(bytes(content))
        return len(content)

    def flush(self) -> None:
        """Does nothing: no bytes are buffered."""

    def drain(self) -> bytes:
        content, self._pending = b"".join(self._pending), []
        return content


def _zip_chunks(members: list[tuple[Path, str]], folder: str) -> Iterator[bytes]:
    """Yield the archive in chunks. Images are not compressed. The bytes are the same each time.

    Args:
        members: each file with its path in ``folder``.
        folder: the folder in the archive.
    """
    stream = _ZipStream()
    with zipfile.ZipFile(stream, "w") as archive:  # type: ignore[call-overload]  # ZipFile uses only write and flush
        for path, name in members:
            info = zipfile.ZipInfo(f"{folder}/{name}", date_time=(1980, 1, 1, 0, 0, 0))
            is_image = name.startswith("images/")
            info.compress_type = zipfile.ZIP_STORED if is_image else zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            with path.open("rb") as source, archive.open(info, "w", force_zip64=True) as target:
                while block := source.read(_CHUNK_SIZE):
                    target.write(block)
                    yield stream.drain()
    yield stream.drain()


RELEASE_ROUTES = [
    Route("/files/releases/{release_id:int}.zip", download_release, methods=["GET"]),
    Route("/files/releases/{release_id:int}/{name:path}", download_release_file, methods=["GET"]),
    Route("/files/training/{release_id:int}/{name}.zip", download_training_data, methods=["GET"]),
]
IMPORT_ROUTES = [
    Route("/files/refusals/{name}", download_refusals, methods=["GET"]),
    Route("/files/mappings/{name}", download_mapping, methods=["GET"]),
    Route("/files/templates/questions.{kind}", download_template, methods=["GET"]),
]
