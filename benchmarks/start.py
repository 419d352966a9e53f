"""Measures the CPU time of commands and of the app until /health responds, and the time to a first page.

Each CPU time is compared with its target, with the import time of the libraries that are always needed, and
with the ratio before imports were deferred. The minimum of five runs counts, because load on the machine
increases the times. The first page is the response of the app after a new demo workspace, as with
``make app`` after the installation. Run ``python -m benchmarks.start [--demo]``; the demo takes half a
minute.
"""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path

_RUNS = 5
_COMMAND_LIBRARIES, _APP_LIBRARIES = "import sqlmodel, argon2", "import streamlit, sqlmodel, pydicom"
#: Targets in CPU seconds; the target of the first page is in seconds on two cores.
_TARGETS = {"cli.py user list": 0.5, "the app to /health": 3.0}
_FIRST_PAGE_TARGET = 20.0
#: Ratios before imports were deferred.
_EARLIER_RATIOS = {
    "cli.py user list": 2.5,
    "cli.py progress": 5.9,
    "cli.py --help": 9.0,
    "the app to /health": 3.5,
}


def main(arguments: list[str]) -> int:
    """Print the results."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"OVERREAD_HOME": folder}
        environment.pop("OVERREAD_DATABASE_URL", None)
        _run(environment, "cli.py", "user", "list")  # creates the tables
        import_seconds = _measure_minimum(lambda: _run(environment, "-c", _COMMAND_LIBRARIES))
        print(f"{_COMMAND_LIBRARIES:40} {import_seconds:6.2f} s")
        for command in ("user list", "progress none", "--help"):
            command_arguments = ("cli.py", *command.split())
            _print_ratio(
                f"cli.py {command}",
                _measure_minimum(partial(_run, environment, *command_arguments)),
                import_seconds,
            )
        import_seconds = _measure_minimum(lambda: _run(environment, "-c", _APP_LIBRARIES))
        print(f"{_APP_LIBRARIES:40} {import_seconds:6.2f} s")
        _print_ratio("the app to /health", _measure_minimum(lambda: _start_app(environment)), import_seconds)
        if "--demo" in arguments:
            environment["OVERREAD_HOME"] = str(Path(folder) / "demo")
            start = time.monotonic()
            demo_seconds = _run(environment, "cli.py", "demo")
            print(f"{'cli.py demo':40} {demo_seconds:6.2f} s, of all its processes")
            _start_app(environment)
            print(
                f"{'demo and app, to the first page':40} {time.monotonic() - start:6.2f} s elapsed, "
                f"target {_FIRST_PAGE_TARGET:g}"
            )
    return 0


def _print_ratio(label: str, seconds: float, import_seconds: float) -> None:
    earlier_ratio = next((ratio for name, ratio in _EARLIER_RATIOS.items() if label.startswith(name)), None)
    target = f", target {_TARGETS[label]:g}" if label in _TARGETS else ""
    print(
        f"{label:40} {seconds:6.2f} s{target}, {seconds / import_seconds:.1f} times its libraries (before:"
        f" {earlier_ratio})"
    )


def _measure_minimum(measure: Callable[[], float]) -> float:
    return min(measure() for _ in range(_RUNS))


def _run(environment: dict[str, str], *arguments: str) -> float:
    """Measure the CPU seconds of one run of Python, including child processes."""
    used_before = _used_cpu_seconds()
    subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, check=False)  # noqa: S603 - our own commands
    return _used_cpu_seconds() - used_before


def _start_app(environment: dict[str, str]) -> float:
    """Measure the CPU seconds until the app responds and is stopped."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    used_before = _used_cpu_seconds()
    with subprocess.Popen(  # noqa: S603 - our own app
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        while not _is_ready(f"http://127.0.0.1:{port}/health") and server.poll() is None:
            time.sleep(0.1)
        server.terminate()
    return _used_cpu_seconds() - used_before


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310 - our own address
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _used_cpu_seconds() -> float:
    """Return the CPU seconds of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
