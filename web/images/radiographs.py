"""GET /radiographs/{exam}/{radiograph}: a radiograph as a JPEG, for people who may see it.

Streamlit's media files are served without a sign-in, so patient images do not use them. The URL names exam
and radiograph; access is checked in the database at each request, before anything is read or cached.

``?longest=1200`` limits the longer side (one of ``ALLOWED_SIZES``). ``?window=550,1024`` selects a window by
its centre and width after the modality transform.
"""

from __future__ import annotations

import atexit
import functools
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from domain.errors import InvalidValue, NotAllowed, NotFound
from domain.people import Person
from imaging.cache import DiskCache, open_disk_cache, picture_cache_name
from imaging.guarded_decoder import GuardedDecoder
from imaging.radiograph import Window
from language_models.service import find_bench_image
from reader_study.service import load_marking_image, load_reading_image
from review.service import load_radiograph_file
from review.sheet import StoredImage
from storage.images.files import get_image_store
from storage.unit_of_work import read_only_session
from storage.workspace import cache_limit, current_workspace
from web.requests import json_errors, require_person
from web.single_flight import SingleFlight
from web.thread_limits import PIXEL_FETCHES, PIXEL_LOOKUPS

#: The permitted lengths of the longer side in pixels. The list is short to keep the cache small.
ALLOWED_SIZES = (300, 600, 900, 1200, 1600, 2000, 2400, 3000)
_NUMBER_PATTERN = r"\s*(-?\d{1,7}(?:\.\d{1,4})?)\s*"
_WINDOW_PATTERN = re.compile(f"{_NUMBER_PATTERN},{_NUMBER_PATTERN}")
# A browser may cache its copy, because reviewers go back and forth, but must revalidate it before each use.
_CACHE_HEADERS = {"Cache-Control": "private, no-cache", "Vary": "Cookie"}
_RENDERINGS = SingleFlight[bytes]()


@functools.cache
def shared_decoder() -> GuardedDecoder:
    """Return the image-decoder processes of this app."""
    decoder = GuardedDecoder(workers=max(1, min(4, os.cpu_count() or 1)))
    atexit.register(decoder.close)
    return decoder


@json_errors
async def serve_radiograph(request: Request) -> Response:
    """Return the image, or status 304 if the browser already has it."""
    person = await require_person(request)
    exam_row_id, radiograph_id = request.path_params["exam_number"], request.path_params["radiograph_key"]
    longest, window = _parse_longest(request), _parse_window(request)
    stored = await PIXEL_LOOKUPS.run(find_permitted_image, person, exam_row_id, radiograph_id)
    etag = _format_etag(stored.sha256, longest=longest, window=window)
    headers = {**_CACHE_HEADERS, "ETag": etag}
    if matches_etag(request, etag):
        return Response(status_code=304, headers=headers)
    name = f"Radiograph {radiograph_id} of exam {exam_row_id}"
    picture = await _find_cached_picture(stored.sha256, longest=longest, window=window)
    if picture is None:
        picture = await _RENDERINGS.run(
            (etag, name),
            lambda: PIXEL_FETCHES.run(
                _render_picture, stored.sha256, name=name, longest=longest, window=window
            ),
        )
    return Response(picture, media_type="image/jpeg", headers=headers)


def find_permitted_image(person: Person, exam_row_id: int, key: str) -> StoredImage:
    """Return the file of a radiograph, for a person who may see it.

    The radiograph may belong to a review, a reading, an open answer to be marked, or outputs to be scored.

    Raises:
        NotAllowed: the person may not see the radiograph.
        NotFound: the exam has no such radiograph, or its image was not imported.
    """
    with read_only_session() as db:
        for load_image in (load_radiograph_file, load_reading_image, load_marking_image):
            try:
                return load_image(db, person=person, exam_row_id=exam_row_id, radiograph_key=key)
            except NotAllowed:
                continue
        sha256, media_type = find_bench_image(db, person=person, exam_row_id=exam_row_id, radiograph_key=key)
        return StoredImage(sha256=sha256, media_type=media_type)


def matches_etag(request: Request, etag: str) -> bool:
    """Whether the header If-None-Match contains ``etag`` (RFC 9110, 13.1.2)."""
    header_parts = request.headers.get("if-none-match", "").split(",")
    return etag in {part.strip().removeprefix("W/") for part in header_parts}


@contextmanager
def open_original(sha256: str, *, name: str) -> Iterator[Path]:
    """Provide the original as a local file within the ``with`` block.

    Raises:
        NotFound: the workspace does not have the file.
    """
    try:
        with get_image_store(current_workspace()).local_file(sha256) as path:
            yield path
    except NotFound as error:
        raise NotFound(f"{name}: its file is missing from the workspace; import the images again.") from error


def shared_cache() -> DiskCache:
    """Return the disk cache of this workspace."""
    return open_disk_cache(current_workspace().cache, limit=cache_limit())


async def _find_cached_picture(sha256: str, *, longest: int | None, window: Window | None) -> bytes | None:
    if window is not None:
        return None  # images with a chosen window are not cached, because there are too many windows
    return await PIXEL_LOOKUPS.run(
        lambda: shared_cache().find(picture_cache_name(sha256, longest_side=longest))
    )


def _render_picture(sha256: str, *, name: str, longest: int | None, window: Window | None) -> bytes:
    def render() -> bytes:
        with open_original(sha256, name=name) as original:
            return shared_decoder().render_jpeg(original, name=name, window=window, longest_side=longest)

    if window is not None:
        return render()
    return shared_cache().get_or_create(picture_cache_name(sha256, longest_side=longest), render)


def _parse_longest(request: Request) -> int | None:
    text = request.query_params.get("longest")
    if text is None:
        return None
    if text not in {str(size) for size in ALLOWED_SIZES}:
        raise InvalidValue("longest", f"{text!r} must be one of {', '.join(map(str, ALLOWED_SIZES))}")
    return int(text)


def _parse_window(request: Request) -> Window | None:
    text = request.query_params.get("window")
    if text is None:
        return None
    match = _WINDOW_PATTERN.fullmatch(text)
    if match is None or float(match[2]) < 1:
        raise InvalidValue("window", f"{text!r} is not a center and a width (at least 1) such as 550,1024")
    return Window(center=float(match[1]), width=float(match[2]), name="Chosen")


def _format_etag(sha256: str, *, longest: int | None, window: Window | None) -> str:
    name = picture_cache_name(sha256, longest_side=longest)
    return f'"{name}"' if window is None else f'"{name}-{window.center:g}-{window.width:g}"'


ROUTES = [Route("/radiographs/{exam_number:int}/{radiograph_key:path}", serve_radiograph, methods=["GET"])]
