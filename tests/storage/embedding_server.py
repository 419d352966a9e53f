"""A local server with OpenAI's interface for embeddings, whose replies are scripted."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def make_vector(text):
    """A vector with a norm of 2 or more, so that the embedder has to scale it."""
    return [2.0 * len(text), float(text.count("e")), 1.0]


@contextmanager
def running_server(replies=()):
    """A server that gives the scripted (status, body) first, then correct vectors, in reverse order."""
    received, scripted = [], list(replies)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            received.append((self.path, body, dict(self.headers)))
            data = [
                {"object": "embedding", "index": index, "embedding": make_vector(text)}
                for index, text in enumerate(body["input"])
            ]
            status, reply = scripted.pop(0) if scripted else (200, {"data": data[::-1]})
            raw = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", received
    finally:
        server.shutdown()
        server.server_close()
