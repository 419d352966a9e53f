"""The app, ready to be started again and again: modules are imported once, each start is a fork of this.

Reads a start a line from standard input, as JSON (see app_source.py, which alone runs this), and answers with
the number of the process. What runs there is `streamlit run app.py` as always.
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
    """Until standard input ends."""
    os.chdir(ROOT)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that have ended
    # What the app imports when it first needs it is here, too: once for all starts.
    here = (uvicorn, alembic, pd, scipy)
    print("ready", len(routes.ROUTES), *(library.__version__ for library in here), flush=True)
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            _serve(json.loads(line))
        print(process, flush=True)
    return 0


def _serve(start: dict[str, Any]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.update(start["environment"])
    log = os.open(start["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.argv = ["streamlit", "run", "app.py", "--server.port", str(start["port"])]
    try:
        cli.main(prog_name="streamlit")
    finally:
        os._exit(1)


if __name__ == "__main__":
    raise SystemExit(main())
