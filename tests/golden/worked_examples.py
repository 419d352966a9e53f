"""The worked examples of tests/golden/statistics: published data, and the values that R computes."""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "statistics"


def load_example(name):
    """Data, expected values, tolerance."""
    content = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return content["data"], content["expected"], content["tolerance"]
