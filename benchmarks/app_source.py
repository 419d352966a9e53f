"""Starts of the app that need not import it anew: what is killed many times, or serves a module of tests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, cast

ROOT = Path(__file__).resolve().parent.parent


class AppSource:
    """A process that has imported the app (ready_app.py), and forks one that serves at each start."""

    def __init__(self) -> None:
        """Imports what a start needs; nothing serves yet."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.ready_app"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._to_process = cast("IO[str]", self._process.stdin)  # PIPE was asked for
        self._from_process = cast("IO[str]", self._process.stdout)
        if not self._line().startswith("ready"):
            raise RuntimeError("the app could not be imported")

    def start(self, *, port: int, environment: Mapping[str, str], log: Path) -> int:
        """The number of a process that begins to serve on that port, and writes to that log."""
        wish = {"port": port, "environment": dict(environment), "log": str(log)}
        self._to_process.write(json.dumps(wish) + "\n")
        self._to_process.flush()
        return int(self._line())

    def close(self) -> None:
        """End the source; those that it started go on."""
        self._process.kill()
        with self._process:  # closes what was written to and read from, and waits
            pass

    def _line(self) -> str:
        return self._from_process.readline()
