"""A local server with OpenAI's interface whose replies are scripted: correct ones, and every kind of fault.

A message of a request states the behaviour: "behave: <name> [number]". A number after the name is how often
the fault occurs before a correct reply. A request without it gets a correct reply. That message is the first
one, or the last one of a server with ``answer``, which writes the text of correct replies.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

MODEL = "test-model"
#: Tokens that every reply reports.
PROMPT_TOKENS, COMPLETION_TOKENS = 20, 10
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
_BEHAVIOUR = re.compile(r"behave: ([a-z_0-9]+)(?: (\d+))?")


@dataclass
class ModelServer:
    """What the server received. ``replies`` counts successful replies by the text of the message.

    ``forward`` returns the response of another server to a body; None to reply itself.
    """

    port: int = 0
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    connections: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    replies: Counter[str] = field(default_factory=Counter)
    keeps_requests: bool = True
    delay: float = 0.0
    answer: Callable[[dict[str, Any]], str] | None = None
    forward: Callable[[dict[str, Any]], Awaitable[str | None]] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


def make_body(text: str, *, schema: bool = True, max_tokens: int = 50) -> dict[str, Any]:
    """A request body with that message."""
    body: dict[str, Any] = {"messages": [{"role": "user", "content": text}], "max_tokens": max_tokens}
    if schema:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "test", "strict": True, "schema": SCHEMA},
        }
    return body


def make_completion(content: str | None, *, model: str = MODEL, finish: str = "stop", **message: Any) -> str:
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": model,
            "system_fingerprint": "fp_test",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish,
                    "message": {"role": "assistant", "content": content, **message},
                }
            ],
            "usage": {
                "prompt_tokens": PROMPT_TOKENS,
                "completion_tokens": COMPLETION_TOKENS,
                "total_tokens": PROMPT_TOKENS + COMPLETION_TOKENS,
            },
        }
    )


@contextmanager
def running_model_server(
    *, delay: float = 0.0, answer: Callable[[dict[str, Any]], str] | None = None
) -> Iterator[ModelServer]:
    """Run the server in a thread of this process."""
    server = ModelServer(delay=delay, answer=answer)
    loop = asyncio.new_event_loop()
    ready, stop = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await _serve_connection(server, reader, writer)

        listening = await asyncio.start_server(handle, "127.0.0.1", 0)
        server.port = listening.sockets[0].getsockname()[1]
        ready.set()
        await stop.wait()
        listening.close()
        connections = asyncio.all_tasks() - {asyncio.current_task()}
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        await asyncio.sleep(0.01)  # the transports close

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


async def _serve_connection(
    server: ModelServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    server.connections += 1
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            lines = head.split("\r\n")
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in lines[1:])
                if name
            }
            content = await reader.readexactly(int(headers.get("content-length", "0")))
            await _answer(server, json.loads(content), headers, writer)
    except (asyncio.IncompleteReadError, ConnectionError, _Cut):
        pass
    except asyncio.CancelledError:
        return
    finally:
        writer.close()


class _Cut(Exception):
    """The server closes the connection in the middle of a reply."""


async def _answer(
    server: ModelServer, body: dict[str, Any], headers: dict[str, str], writer: asyncio.StreamWriter
) -> None:
    if server.keeps_requests:
        server.bodies.append(body)
        server.headers.append(headers)
    text = _text(body["messages"][-1 if server.answer else 0])
    server.seen[text] += 1
    match = _BEHAVIOUR.search(text)
    name, times = (match[1], int(match[2] or 10**9)) if match else ("ok", 0)
    if server.delay:
        await asyncio.sleep(server.delay)
    if name == "ok" or server.seen[text] > times:
        forwarded = await server.forward(body) if server.forward else None
        server.replies[text] += 1
        content = server.answer(body) if server.answer else '{"answer": "yes"}'
        await _send(writer, 200, forwarded or make_completion(content, model=body.get("model", MODEL)))
        return
    await _misbehave(name, headers, writer, model=body.get("model", MODEL))


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else content[0]["text"]


def _error(code: str, message: str) -> str:
    return json.dumps({"error": {"code": code, "type": code, "message": message}})


_COMPLETIONS = {
    "fenced": make_completion('```json\n{"answer": "yes"}\n```'),
    "truncated": make_completion('{"answer": "ye'),
    "wrong_schema": make_completion('{"reply": "yes"}'),
    "refusal": make_completion(None, refusal="I can't help with that."),
    "filtered_reply": make_completion("", finish="content_filter"),
    "length": make_completion('{"answer": "y', finish="length"),
    "empty": make_completion(""),
    "other_model": make_completion('{"answer": "yes"}', model="another-model"),
    "half_json": make_completion('{"answer": "yes"}')[:60],
}
_ERRORS = {
    "limited": (429, _error("rate_limit_exceeded", "Too many requests.")),
    "quota": (429, _error("insufficient_quota", "You exceeded your current quota.")),
    "broken": (500, _error("server_error", "It broke.")),
    "gateway": (502, "<html>Bad gateway</html>"),
    "unavailable": (503, _error("unavailable", "Loading the model.")),
    "content_filter": (400, _error("content_filter", "The prompt triggered the content policy.")),
    "context": (400, _error("exceed_context_size_error", "the request exceeds the available context size")),
    "bad_request": (400, _error("invalid_request_error", "Unknown parameter.")),
    "unknown_model": (404, _error("model_not_found", "The model does not exist.")),
}


async def _misbehave(name: str, headers: dict[str, str], writer: asyncio.StreamWriter, *, model: str) -> None:
    key = headers.get("authorization", "")
    if name in _COMPLETIONS:
        await _send(writer, 200, _COMPLETIONS[name].replace(f'"{MODEL}"', f'"{model}"'))
    elif name in _ERRORS:
        status, text = _ERRORS[name]
        extra = {"retry-after": "0.2"} if name == "limited" else {}
        await _send(writer, status, text, **extra)
    elif name == "unauthorised":
        await _send(writer, 401, _error("invalid_api_key", f"Incorrect API key provided: {key}."))
    elif name == "echo_key":
        await _send(writer, 200, make_completion(json.dumps({"answer": key})))
    elif name == "redirect":
        await _send(writer, 307, "", location="http://127.0.0.1:9/v1/chat/completions")
    elif name == "cut":
        writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"choices": [')
        await writer.drain()
        raise _Cut
    elif name == "slow":
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.2)
    else:
        raise AssertionError(f"no behaviour {name}")


async def _send(writer: asyncio.StreamWriter, status: int, text: str, **headers: str) -> None:
    content = text.encode()
    lines = [f"HTTP/1.1 {status} X", "content-type: application/json", f"content-length: {len(content)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
    await writer.drain()
