"""Downloads: files of releases, and lists of refused records.

Streamlit's download button has served stale bytes, and its media files need no sign-in. These routes check
sign-in and role at each request, send exactly the bytes that they hash, and send the hash in a header.
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
from release.service import ReleaseFile, release_file, release_files
from storage.unit_of_work import reading
from storage.workspace import current_workspace
from web.requests import json_errors, person_of

_BLOCK = 1 << 18
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_MEDIA_TYPES = {".csv": "text/csv; charset=utf-8", ".json": "application/json", ".zip": "application/zip"}


@json_errors
async def one_release_file(request: Request) -> Response:
    """GET /files/releases/{id}/{path}: one file of a release, by its path in the manifest."""
    person = await person_of(request)
    release_id, name = request.path_params["release_id"], request.path_params["name"]
    file = await run_in_threadpool(_release_file, person, release_id, name)
    return await run_in_threadpool(_sent, file.path, file.shown_name, file.entry.sha256)


@json_errors
async def whole_release(request: Request) -> Response:
    """GET /files/releases/{id}.zip: all files of a release; the manifest in it has their hashes."""
    person = await person_of(request)
    files = await run_in_threadpool(_release_files, person, request.path_params["release_id"])
    shown = files[0].shown_name.removesuffix("-manifest.json")
    headers = _headers(f"{shown}.zip") | {"X-Manifest-SHA256": files[0].entry.sha256}
    return StreamingResponse(_zipped(files, shown), media_type=_MEDIA_TYPES[".zip"], headers=headers)


@json_errors
async def refusals(request: Request) -> Response:
    """GET /files/refusals/{name}: the list of records that an import refused."""
    person = await person_of(request)
    require(person, Action.IMPORT_QUESTIONS)
    name = request.path_params["name"]
    path = current_workspace().refusals / name
    if not _PLAIN_NAME.fullmatch(name) or path.is_symlink() or not path.is_file():
        raise NotFound("There is no such list of refused records.")
    return await run_in_threadpool(_sent, path, name, None)


def _release_file(person: Person, release_id: int, name: str) -> ReleaseFile:
    with reading() as db:
        return release_file(db, by=person, release_id=release_id, name=name)


def _release_files(person: Person, release_id: int) -> list[ReleaseFile]:
    with reading() as db:
        files = release_files(db, by=person, release_id=release_id)
    missing = [file.entry.path for file in files if not file.path.is_file()]
    if missing:
        raise NotFound(f"The release is not whole: {missing[0]} is missing. Make it again in another folder.")
    return files


def _sent(path: Path, shown_name: str, sha256: str | None) -> Response:
    """The file as an attachment. It is hashed and then sent from the same open handle.

    Raises:
        NotFound: the file is missing.
        Refused: its bytes do not match the manifest.
    """
    file = _opened(path)
    found, length = _hash(file)
    if sha256 is not None and found != sha256:
        file.close()
        raise Refused(
            f"{path.name} was changed since the release was made, so it is not given out. Make the release "
            "again in another folder."
        )
    headers = _headers(shown_name) | {"X-Content-SHA256": found, "Content-Length": str(length)}
    media_type = _MEDIA_TYPES.get(path.suffix, "application/octet-stream")
    return StreamingResponse(_blocks(file), media_type=media_type, headers=headers)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise NotFound(f"{path.name} is not where it was written any more.") from error


def _hash(file: BinaryIO) -> tuple[str, int]:
    digest, length = hashlib.sha256(), 0
    while block := file.read(_BLOCK):
        digest.update(block)
        length += len(block)
    file.seek(0)
    return digest.hexdigest(), length


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while block := file.read(_BLOCK):
            yield block


def _headers(shown_name: str) -> dict[str, str]:
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", shown_name)
    spelled = quote(shown_name, safe="")
    return {
        "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{spelled}",
        "Cache-Control": "no-store",
    }


class _Passing:
    """A write-only stream that passes on the archive's bytes; it is not seekable."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []

    def write(self, content: bytes) -> int:
        self._waiting.append(bytes(content))
        return len(content)

    def flush(self) -> None:
        """Does nothing: no bytes are buffered."""

    def taken(self) -> bytes:
        content, self._waiting = b"".join(self._waiting), []
        return content


def _zipped(files: list[ReleaseFile], folder: str) -> Iterator[bytes]:
    """The archive in chunks. Text is compressed, images are stored. The bytes are the same each time."""
    passing = _Passing()
    with zipfile.ZipFile(passing, "w") as archive:  # type: ignore[call-overload]  # it only uses write, flush
        for file in files:
            info = zipfile.ZipInfo(f"{folder}/{file.entry.path}", date_time=(1980, 1, 1, 0, 0, 0))
            is_image = file.entry.path.startswith("images/")
            info.compress_type = zipfile.ZIP_STORED if is_image else zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            with file.path.open("rb") as source, archive.open(info, "w", force_zip64=True) as target:
                while block := source.read(_BLOCK):
                    target.write(block)
                    yield passing.taken()
    yield passing.taken()


RELEASE_ROUTES = [
    Route("/files/releases/{release_id:int}.zip", whole_release, methods=["GET"]),
    Route("/files/releases/{release_id:int}/{name:path}", one_release_file, methods=["GET"]),
]
REFUSAL_ROUTES = [Route("/files/refusals/{name}", refusals, methods=["GET"])]
