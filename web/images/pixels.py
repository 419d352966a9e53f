"""GET /pixels/{exam}/{radiograph} and …/metadata: a radiograph's stored values, and how to display them.

Sign-in and access are checked at each request, before anything is read. A browser may cache its copy, but
must revalidate it before each use. Matrix and metadata are computed together, once, in a decoder process, and
cached on disk under the file's SHA-256. While the image store does not respond, cached entries are still
served, because lookups and fetches have separate thread limits.

A radiograph's id may contain any character, including a slash. The browser sends it as one segment of the
URL (``encodeURIComponent``), so segments are counted in the URL as sent, before decoding.
"""

from __future__ import annotations

from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from imaging.cache import matrix_cache_name, viewer_facts_cache_name
from imaging.guarded_decoder import EncodedPixels
from web.images.radiographs import (
    find_permitted_image,
    matches_etag,
    open_original,
    shared_cache,
    shared_decoder,
)
from web.requests import json_errors, require_person
from web.single_flight import SingleFlight
from web.thread_limits import PIXEL_FETCHES, PIXEL_LOOKUPS

_CACHE_HEADERS = {"Cache-Control": "private, no-cache", "Vary": "Cookie", "X-Content-Type-Options": "nosniff"}
# The metadata and the matrix of a radiograph are requested at the same moment, possibly by several people.
_ENCODINGS = SingleFlight[EncodedPixels]()


@json_errors
async def serve_pixels(request: Request) -> Response:
    """Return the stored values (``imaging.matrix``), their metadata (``imaging.viewer_facts``), or 304."""
    person = await require_person(request)
    exam_row_id = request.path_params["exam_number"]
    radiograph_id, wants_metadata = _parse_path(request)
    stored = await PIXEL_LOOKUPS.run(find_permitted_image, person, exam_row_id, radiograph_id)
    cache_name = (
        viewer_facts_cache_name(stored.sha256) if wants_metadata else matrix_cache_name(stored.sha256)
    )
    headers = {**_CACHE_HEADERS, "ETag": f'"{cache_name}"'}
    if matches_etag(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    description = f"Radiograph {radiograph_id} of exam {exam_row_id}"
    content = await PIXEL_LOOKUPS.run(lambda: shared_cache().find(cache_name))
    if content is None:
        # The description is part of the key of the shared work: error messages contain it with the exam id,
        # which people without access to the exam must not learn.
        encoded = await _ENCODINGS.run(
            (stored.sha256, description),
            lambda: PIXEL_FETCHES.run(_encode_pixels, stored.sha256, name=description),
        )
        content = encoded.facts if wants_metadata else encoded.matrix
    if wants_metadata:
        return Response(content, media_type="application/json", headers=headers)
    headers["Content-Encoding"] = "gzip"
    return Response(content, media_type="application/octet-stream", headers=headers)


def _parse_path(request: Request) -> tuple[str, bool]:
    """Return the id of the radiograph, and whether its metadata are requested."""
    raw_path = request.scope.get("raw_path", b"").decode("ascii", "replace").partition("/pixels/")[2]
    segments = raw_path.split("/")[1:]
    wants_metadata = len(segments) > 1 and segments[-1] == "metadata"
    return unquote("/".join(segments[:-1] if wants_metadata else segments)), wants_metadata


def _encode_pixels(sha256: str, *, name: str) -> EncodedPixels:
    cache = shared_cache()
    facts, matrix = cache.find(viewer_facts_cache_name(sha256)), cache.find(matrix_cache_name(sha256))
    if facts is not None and matrix is not None:  # another request has cached them since the lookup
        return EncodedPixels(facts=facts, matrix=matrix)
    with open_original(sha256, name=name) as original:
        encoded = shared_decoder().encode_pixels(original, name=name)
    cache.store(viewer_facts_cache_name(sha256), encoded.facts)
    cache.store(matrix_cache_name(sha256), encoded.matrix)
    return encoded


ROUTES = [Route("/pixels/{exam_number:int}/{anything:path}", serve_pixels, methods=["GET"])]
