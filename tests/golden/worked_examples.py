"""The worked examples of tests/golden/statistics: published data, and the values that R computes."""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "statistics"


def example(name):
    """Data, expected values, tolerance."""
    read = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return read["data"], read["expected"], read["tolerance"]
