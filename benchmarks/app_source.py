"""Starts the app repeatedly without importing it each time, for benchmarks that start or kill it often."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, cast

ROOT = Path(__file__).resolve().parent.parent


class AppForker:
    """A process that has imported the app (ready_app.py) and forks one app process per start."""

    def __init__(self) -> None:
        """Start the process that imports the app; no app process runs yet."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.ready_app"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._requests = cast("IO[str]", self._process.stdin)  # the process was opened with PIPE
        self._responses = cast("IO[str]", self._process.stdout)
        if not self._read_response().startswith("ready"):
            raise RuntimeError("the app could not be imported")

    def start(self, *, port: int, environment: Mapping[str, str], log: Path) -> int:
        """Start an app process that serves on ``port`` and writes to ``log``; return its process id."""
        start_request = {"port": port, "environment": dict(environment), "log": str(log)}
        self._requests.write(json.dumps(start_request) + "\n")
        self._requests.flush()
        return int(self._read_response())

    def close(self) -> None:
        """End the forking process. The app processes that it started continue to run."""
        self._process.kill()
        with self._process:  # closes the pipes and waits
            pass

    def _read_response(self) -> str:
        return self._responses.readline()
