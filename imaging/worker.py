"""The process that reads untrusted files; imaging.decoder_process starts it.

A request is one line of JSON, followed by the file's bytes if the request has no path. A response consists of
the length of its JSON header in eight bytes (big endian), the header, and the payloads, whose lengths are the
header's ``sizes``. Payloads are plain bytes, not pickles: even if a file takes control of this process, its
response executes no code in the caller.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from imaging.display import render_display_jpeg
from imaging.errors import UnreadableImage
from imaging.identity import read_identity
from imaging.matrix import encode_matrix
from imaging.pseudonyms import PseudonymKey
from imaging.radiograph import Window
from imaging.reader import describe, read_radiograph
from imaging.render import render_pngs
from imaging.viewer_facts import build_viewer_facts
from imaging.wire import OUT_OF_MEMORY, WorkerResponse, encode_radiograph


def main() -> int:
    """Answer requests until the caller closes the pipe.

    The command-line arguments are the limits per file: bytes of memory and seconds.

    Returns:
        The exit code 0. If memory runs out, the process exits at once with ``OUT_OF_MEMORY``.
    """
    memory_limit, time_limit = int(sys.argv[1]), int(sys.argv[2])
    response_stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the output of a library must not mix with the responses
    with suppress(ValueError, OSError):  # macOS does not support this limit, but the time limit applies
        resource.setrlimit(resource.RLIMIT_AS, (memory_limit, memory_limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # the process must not write files
    _send_response(response_stream, ({"ready": True}, []))
    for line in sys.stdin.buffer:
        request = json.loads(line)
        content = sys.stdin.buffer.read(request["length"]) if "length" in request else None
        _set_cpu_limit(time_limit)
        try:
            response = _handle_request(request, content)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        _send_response(response_stream, response)
    return 0


def _set_cpu_limit(seconds: int) -> None:
    """Limit the CPU time for the next file. The limit counts the whole process, so the used time is added."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + seconds + 1, hard))


def _handle_request(request: dict[str, Any], sent_content: bytes | None) -> WorkerResponse:
    name, operation = str(request["name"]), request["operation"]
    key = PseudonymKey(secret=bytes.fromhex(request["key"])) if request.get("key") else None
    try:
        content = Path(str(request["path"])).read_bytes() if sent_content is None else sent_content
        if operation == "describe":
            header: dict[str, Any] = {"facts": asdict(describe(content, name=name, key=key))}
            if request.get("identity"):
                header["identity"] = _identity_to_json(content, name=name)
            return header, []
        if operation == "deidentify" and key is not None:
            return _deidentify(content, name=name, key=key, identity=bool(request.get("identity")))
        return _decode_pixels(request, content, name=name)
    except UnreadableImage as error:
        return {"refused": error.reason, "attribute": error.attribute}, []
    except FileNotFoundError:
        return {"refused": "does not exist.", "attribute": None}, []
    except OSError as error:
        return {"refused": f"can't be opened ({error.strerror}).", "attribute": None}, []
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a parser may fail in any way on untrusted bytes
        return {"refused": f"cannot be read ({type(error).__name__}).", "attribute": None}, []


def _decode_pixels(request: dict[str, Any], content: bytes, *, name: str) -> WorkerResponse:
    """Handle an operation that decodes the pixels of the file."""
    decoded = read_radiograph(content, name=name)
    operation = request["operation"]
    if operation == "decode":
        return encode_radiograph(decoded)
    if operation == "encode_pixels":
        facts = json.dumps(build_viewer_facts(content, decoded, name=name), allow_nan=False).encode()
        matrix = encode_matrix(decoded)
        return {"sizes": [len(facts), len(matrix)]}, [facts, matrix]
    window_fields = request["window"]
    window = Window(**window_fields) if isinstance(window_fields, dict) else None
    if operation == "render_png":
        rendered = render_pngs(
            decoded, bits=int(request["bits"]), window=window, quarter=bool(request["quarter"])
        )
        files = [rendered.full] if rendered.quarter is None else [rendered.full, rendered.quarter]
        return {"sizes": [len(file) for file in files]}, files
    if operation == "render_jpeg":
        picture = render_display_jpeg(decoded, window=window, longest_side=request["longest_side"])
        return {"facts": asdict(decoded.facts), "sizes": [len(picture)]}, [picture]
    raise ValueError(f"unknown operation {operation!r}")


def _deidentify(content: bytes, *, name: str, key: PseudonymKey, identity: bool) -> WorkerResponse:
    from imaging.deidentify import deidentify  # noqa: PLC0415 - imports a library that nothing else needs

    deidentified = deidentify(content, name=name, key=key)
    header: dict[str, Any] = {
        "facts": asdict(deidentified.facts),
        "notes": list(deidentified.notes),
        "sizes": [len(deidentified.content)],
    }
    if identity:
        header["identity"] = _identity_to_json(content, name=name)
    return header, [deidentified.content]


def _identity_to_json(content: bytes, *, name: str) -> list[tuple[str, str]]:
    return [
        (identity_value.kind, identity_value.value) for identity_value in read_identity(content, name=name)
    ]


def _send_response(response_stream: BinaryIO, response: WorkerResponse) -> None:
    header, payloads = response
    header_json = json.dumps(header).encode()
    response_stream.write(len(header_json).to_bytes(8))
    response_stream.write(header_json)
    for payload in payloads:
        response_stream.write(payload)
    response_stream.flush()


if __name__ == "__main__":
    sys.exit(main())
