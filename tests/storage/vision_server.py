"""A local server with OpenAI's interface that decodes the radiographs of a request and answers from them.

A coded radiograph has rows of black and white squares: the number of its exam, its view, and the finding that
it shows. The server answers with the letter of the option that names the finding, so a correct answer proves
that the images of the right exam arrived. Without images it answers A.
"""

from __future__ import annotations

import base64
import io
import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
from PIL import Image

VISION_MODEL = "vision-model"
FINDINGS = ("Nodule", "Effusion", "Pneumothorax")
VIEWS = ("PA", "LATERAL")
#: Squares per row, rows of squares, and the side of a square in pixels (8 in quarter size).
_COLUMNS, _ROWS, _SQUARE = 8, 3, 32
_OPTION = re.compile(r"^([A-Z])\. (.+)$", re.MULTILINE)
_ANNOUNCEMENT = re.compile(r"^Radiograph (\d+) of (\d+): (PA|lateral)\.$")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenImage:
    """What the server decoded from one image, and the announcement before it."""

    exam: int
    view: str
    finding: str
    size: tuple[int, int]
    announced: str
    place: tuple[int, int]


@dataclass
class ReceivedRequests:
    """The requests that the server received: the raw bytes, and the images of each."""

    port: int = 0
    raw: list[bytes] = field(default_factory=list)
    images: list[tuple[SeenImage, ...]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


def draw_coded_image(*, exam: int, view: str, finding: str) -> bytes:
    """Draw a coded radiograph of 256 x 96 pixels as PNG."""
    squares = np.zeros((_ROWS, _COLUMNS), dtype=np.uint8)
    for row, value in enumerate((exam, VIEWS.index(view), FINDINGS.index(finding))):
        squares[row] = [255 if value >> bit & 1 else 0 for bit in range(_COLUMNS)]
    content = io.BytesIO()
    Image.fromarray(np.kron(squares, np.ones((_SQUARE, _SQUARE), dtype=np.uint8))).save(content, "PNG")
    return content.getvalue()


def read_coded_image(content: bytes) -> tuple[int, str, str, tuple[int, int]]:
    """Return exam, view, finding and size (width, height) of a coded radiograph of any scale."""
    with Image.open(io.BytesIO(content)) as image:
        assert image.format == "PNG"
        pixels = np.asarray(image.convert("L"))
    height, width = pixels.shape
    side = width // _COLUMNS
    values = [
        sum(
            1 << bit
            for bit in range(_COLUMNS)
            if pixels[row * side + side // 2, bit * side + side // 2] > 127
        )
        for row in range(_ROWS)
    ]
    return values[0], VIEWS[values[1]], FINDINGS[values[2]], (width, height)


def answer(text: str, finding: str | None) -> str:
    """Return the letter of the option that names the finding, A without a finding, or a paraphrase."""
    if text.startswith("Write this question in other words"):
        return paraphrase(text.splitlines()[-1])
    letters = {option: letter for letter, option in _OPTION.findall(text)}
    return f"<answer>{'A' if finding is None else letters[finding]}</answer> This is what I see."


def paraphrase(stem: str) -> str:
    """Return a paraphrase. By number modulo 3: 0 changes the meaning, 1 keeps it, 2 repeats the words."""
    number = int(stem.rstrip("?").split()[-1])
    finding = {0: "left finding is", 1: "finding is shown", 2: "finding is"}[number % 3]
    return f"“Which {finding} on radiograph {number}?”"


@contextmanager
def running_vision_server() -> Iterator[ReceivedRequests]:
    """Run the server in a thread of this process."""
    received = ReceivedRequests()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            received.raw.append(raw)
            parts = json.loads(raw)["messages"][-1]["content"]
            content = parts if isinstance(parts, list) else [{"type": "text", "text": parts}]
            images = tuple(_read_images(content))
            received.images.append(images)
            received.texts.append(content[-1]["text"])
            reply = answer(content[-1]["text"], images[0].finding if images else None)
            body = json.dumps(
                {
                    "model": VISION_MODEL,
                    "choices": [
                        {"finish_reason": "stop", "message": {"role": "assistant", "content": reply}}
                    ],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 10},
                }
            ).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    received.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield received
    finally:
        server.shutdown()
        server.server_close()


def _read_images(content: Sequence[dict[str, Any]]) -> Iterator[SeenImage]:
    for previous, part in zip([{}, *content], content, strict=False):
        if part["type"] != "image_url":
            continue
        header, _, encoded = part["image_url"]["url"].partition(",")
        assert header == "data:image/png;base64"
        exam, view, finding, size = read_coded_image(base64.b64decode(encoded))
        announcement = _ANNOUNCEMENT.match(previous["text"])
        assert announcement, previous
        place = (int(announcement[1]), int(announcement[2]))
        yield SeenImage(
            exam=exam, view=view, finding=finding, size=size, announced=announcement[3].upper(), place=place
        )
