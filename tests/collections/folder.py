"""Where the public collections are."""

import os
from pathlib import Path

COLLECTIONS = Path(
    os.environ.get("OVERREAD_TEST_COLLECTIONS")
    or Path(__file__).resolve().parents[2].parent / "shared" / "data"
)
