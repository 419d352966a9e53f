"""GET /pixels/{exam}/{radiograph} and …/facts: a radiograph's stored values, and how to display them.

Sign-in and access are checked at each request, before anything is read. A browser may cache its copy, but
must revalidate it before each use. Matrix and facts are computed together, once, in a reading process, and
cached on disk under the file's SHA-256. While the image store does not respond, cached entries are still
served, because lookups and fetches have separate thread limits.

A radiograph's key may contain any character, including a slash. The browser sends it as one segment of the
URL (``encodeURIComponent``), so segments are counted in the URL as sent, before decoding.
"""

from __future__ import annotations

from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from imaging.cache import facts_name, matrix_name
from imaging.guarded import EncodedPixels
from web.images.radiographs import allowed_image, has_already, original_file, shared_cache, shared_reader
from web.requests import json_errors, person_of
from web.single_flight import SingleFlight
from web.thread_limits import PIXEL_FETCHES, PIXEL_LOOKUPS

_KEEP = {"Cache-Control": "private, no-cache", "Vary": "Cookie", "X-Content-Type-Options": "nosniff"}
# Facts and matrix of one radiograph are requested at the same moment, possibly by several people.
_FLIGHTS = SingleFlight[EncodedPixels]()


@json_errors
async def pixels(request: Request) -> Response:
    """The stored values (``imaging.matrix``), their facts (``imaging.facts``), or 304."""
    person = await person_of(request)
    exam_number = request.path_params["exam_number"]
    key, wants_facts = _asked(request)
    stored = await PIXEL_LOOKUPS.run(allowed_image, person, exam_number, key)
    name = facts_name(stored.sha256) if wants_facts else matrix_name(stored.sha256)
    headers = {**_KEEP, "ETag": f'"{name}"'}
    if has_already(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    said = f"Radiograph {key} of exam {exam_number}"
    content = await PIXEL_LOOKUPS.run(lambda: shared_cache().find(name))
    if content is None:
        # The name is part of the key because errors quote it with the exam's number: a person must not learn
        # the number of somebody else's exam.
        made = await _FLIGHTS.run(
            (stored.sha256, said), lambda: PIXEL_FETCHES.run(_made, stored.sha256, name=said)
        )
        content = made.facts if wants_facts else made.matrix
    if wants_facts:
        return Response(content, media_type="application/json", headers=headers)
    headers["Content-Encoding"] = "gzip"
    return Response(content, media_type="application/octet-stream", headers=headers)


def _asked(request: Request) -> tuple[str, bool]:
    """The radiograph's key, and whether its facts are requested."""
    sent = request.scope.get("raw_path", b"").decode("ascii", "replace").partition("/pixels/")[2]
    segments = sent.split("/")[1:]
    wants_facts = len(segments) > 1 and segments[-1] == "facts"
    return unquote("/".join(segments[:-1] if wants_facts else segments)), wants_facts


def _made(sha256: str, *, name: str) -> EncodedPixels:
    cache = shared_cache()
    facts, matrix = cache.find(facts_name(sha256)), cache.find(matrix_name(sha256))
    if facts is not None and matrix is not None:  # cached after this request's lookup
        return EncodedPixels(facts=facts, matrix=matrix)
    with original_file(sha256, name=name) as original:
        made = shared_reader().pixels(original, name=name)
    cache.keep(facts_name(sha256), made.facts)
    cache.keep(matrix_name(sha256), made.matrix)
    return made


ROUTES = [Route("/pixels/{exam_number:int}/{anything:path}", pixels, methods=["GET"])]
