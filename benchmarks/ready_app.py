"""A process that has imported the app's modules and forks itself for each start of the app.

It reads one start request per line from standard input, as JSON (see app_source.py, its only caller), and
answers with the process id. The fork runs `streamlit run app.py` as usual.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import alembic.command
import pandas as pd
import scipy.stats
import uvicorn
from streamlit.web import cli

from web import routes

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Read and answer requests until standard input ends."""
    os.chdir(ROOT)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # processes that have ended are reaped automatically
    # Modules that the app imports on first use are imported here too, once for all starts.
    libraries = (uvicorn, alembic, pd, scipy)
    print("ready", len(routes.ROUTES), *(library.__version__ for library in libraries), flush=True)
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            _run_app(json.loads(line))
        print(process, flush=True)
    return 0


def _run_app(start_request: dict[str, Any]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.update(start_request["environment"])
    log = os.open(start_request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.argv = ["streamlit", "run", "app.py", "--server.port", str(start_request["port"])]
    try:
        cli.main(prog_name="streamlit")
    finally:
        os._exit(1)


if __name__ == "__main__":
    raise SystemExit(main())
