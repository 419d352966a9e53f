"""GET /pixels/{exam}/{radiograph} and …/facts: a radiograph's stored values for the viewer, what they mean.

Who asks is looked up at each request, and what they may see, before anything is read: a browser may keep
its copy, but has to ask each time whether it may still show it. The two are made together, once, in a
reading process, and kept on the disk under the file's SHA-256.

A radiograph's key may hold any sign, a slash too. The browser sends it as one segment of the address
(``encodeURIComponent``), so segments are counted in the address as it was sent, before it is decoded.
"""

from __future__ import annotations

import threading
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from imaging.cache import facts_name, matrix_name
from ui.door.radiographs import allowed_image, has_already, original_file, shared_cache, shared_reader
from ui.door.requests import json_errors, person_of

_KEEP = {"Cache-Control": "private, no-cache", "Vary": "Cookie", "X-Content-Type-Options": "nosniff"}
# The facts and the matrix of one radiograph are asked for at the same moment; one of the two makes both.
_TURNS = tuple(threading.Lock() for _ in range(64))


@json_errors
async def pixels(request: Request) -> Response:
    """The stored values (``imaging.matrix``), their facts (``imaging.facts``), or 304."""
    person = await person_of(request)
    exam_number = request.path_params["exam_number"]
    key, wants_facts = _asked(request)
    stored = await run_in_threadpool(allowed_image, person, exam_number, key)
    name = facts_name(stored.sha256) if wants_facts else matrix_name(stored.sha256)
    headers = {**_KEEP, "ETag": f'"{name}"'}
    if has_already(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    said = f"Radiograph {key} of exam {exam_number}"
    content = await run_in_threadpool(_content, stored.sha256, wanted=name, said=said)
    if wants_facts:
        return Response(content, media_type="application/json", headers=headers)
    headers["Content-Encoding"] = "gzip"
    return Response(content, media_type="application/octet-stream", headers=headers)


def _asked(request: Request) -> tuple[str, bool]:
    """The radiograph's key, and whether its facts are wanted."""
    sent = request.scope.get("raw_path", b"").decode("ascii", "replace").partition("/pixels/")[2]
    segments = sent.split("/")[1:]
    wants_facts = len(segments) > 1 and segments[-1] == "facts"
    return unquote("/".join(segments[:-1] if wants_facts else segments)), wants_facts


def _content(sha256: str, *, wanted: str, said: str) -> bytes:
    cache = shared_cache()
    with _TURNS[int(sha256[:2], 16) % len(_TURNS)]:
        kept = cache.find(wanted)
        if kept is not None:
            return kept
        with original_file(sha256, name=said) as original:
            made = shared_reader().pixels(original, name=said)
        cache.keep(facts_name(sha256), made.facts)
        cache.keep(matrix_name(sha256), made.matrix)
        return made.facts if wanted == facts_name(sha256) else made.matrix


ROUTES = [Route("/pixels/{exam_number:int}/{anything:path}", pixels, methods=["GET"])]
