"""The process that reads untrusted files: ``python -m imaging.worker``, started by imaging.reading_process.

A request is one line of JSON, followed by the file's bytes if it has no path. An answer is eight bytes with
the length of a JSON head (big endian), the head, then the parts whose lengths are the head's ``sizes``. The
parts are plain bytes, not pickles: even if a file takes control of this process, its answer executes nothing
in the caller.
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

from imaging.display import display_jpeg
from imaging.errors import UnreadableImage
from imaging.facts import viewer_facts
from imaging.identity import identity_of
from imaging.matrix import encode_matrix
from imaging.pseudonyms import PseudonymKey
from imaging.radiograph import Window
from imaging.reading import describe, read_radiograph
from imaging.render import render
from imaging.wire import OUT_OF_MEMORY, Answer, taken_apart


def main() -> int:
    """Answer requests until the caller closes the pipe.

    The command's arguments are the limits per file: bytes of memory and seconds.

    Returns:
        The exit code 0; the process exits with ``OUT_OF_MEMORY`` itself.
    """
    most_bytes, most_seconds = int(sys.argv[1]), int(sys.argv[2])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of a library must not mix with the answers
    with suppress(ValueError, OSError):  # macOS does not support this limit; time is limited there too
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # it writes no files
    _send(answers, ({"ready": True}, []))
    for line in sys.stdin.buffer:
        request = json.loads(line)
        sent = sys.stdin.buffer.read(request["length"]) if "length" in request else None
        _allow_cpu(most_seconds)
        try:
            answer = _answer(request, sent)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        _send(answers, answer)
    return 0


def _allow_cpu(seconds: int) -> None:
    """Set the CPU time for the next file; the limit is for the whole process, so used time is added."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + seconds + 1, hard))


def _answer(request: dict[str, Any], sent: bytes | None) -> Answer:
    name = str(request["name"])
    key = PseudonymKey(secret=bytes.fromhex(request["key"])) if request.get("key") else None
    try:
        content = Path(str(request["path"])).read_bytes() if sent is None else sent
        if request["do"] == "describe":
            head: dict[str, Any] = {"facts": asdict(describe(content, name=name, key=key))}
            if request.get("identity"):
                head["identity"] = [(each.kind, each.value) for each in identity_of(content, name=name)]
            return head, []
        if request["do"] == "deidentify" and key is not None:
            return _deidentified(content, name=name, key=key, identity=bool(request.get("identity")))
        decoded = read_radiograph(content, name=name)
        if request["do"] == "decode":
            return taken_apart(decoded)
        if request["do"] == "pixels":
            facts = json.dumps(viewer_facts(content, decoded, name=name), allow_nan=False).encode()
            matrix = encode_matrix(decoded)
            return {"sizes": [len(facts), len(matrix)]}, [facts, matrix]
        stated = request["window"]
        window = Window(**stated) if isinstance(stated, dict) else None
        if request["do"] == "render":
            made = render(decoded, bits=int(request["bits"]), window=window, quarter=bool(request["quarter"]))
            files = [made.full] if made.quarter is None else [made.full, made.quarter]
            return {"sizes": [len(file) for file in files]}, files
        picture = display_jpeg(
            decoded,
            window=window,
            longest=request["longest"],
        )
        return {"facts": asdict(decoded.facts), "sizes": [len(picture)]}, [picture]
    except UnreadableImage as error:
        return {"refused": error.reason, "attribute": error.attribute}, []
    except FileNotFoundError:
        return {"refused": "is not there.", "attribute": None}, []
    except OSError as error:
        return {"refused": f"can't be opened ({error.strerror}).", "attribute": None}, []
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a parser may fail in any way on untrusted bytes
        return {"refused": f"can't be read ({type(error).__name__}: {error}).", "attribute": None}, []


def _deidentified(content: bytes, *, name: str, key: PseudonymKey, identity: bool) -> Answer:
    from imaging.deidentify import deidentify  # noqa: PLC0415 - a library for this alone

    made = deidentify(content, name=name, key=key)
    head: dict[str, Any] = {
        "facts": asdict(made.facts),
        "notes": list(made.notes),
        "sizes": [len(made.content)],
    }
    if identity:
        head["identity"] = [(each.kind, each.value) for each in identity_of(content, name=name)]
    return head, [made.content]


def _send(answers: BinaryIO, answer: Answer) -> None:
    head, parts = answer
    text = json.dumps(head).encode()
    answers.write(len(text).to_bytes(8))
    answers.write(text)
    for part in parts:
        answers.write(part)
    answers.flush()


if __name__ == "__main__":
    sys.exit(main())
