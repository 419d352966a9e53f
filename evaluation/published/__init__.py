"""The published results of GEMeX and ReXVQA, read from files, to be shown beside the user's models.

Sources: Liu B et al., GEMeX, ICCV 2025, Tables 5 and 6, and its poster (two further models in Table 5);
Pal A et al., ReXVQA, 2025, Tables 1, 2, 3 and 6, and Figure 2 (the accuracies that the text states; all are
multiples of 1/198).
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

#: Questions of the private test set by task (ReXVQA, Table 1).
REXVQA_TASK_COUNTS = {
    "differential_diagnosis": 8585,
    "geometric_information": 179,
    "location_distribution": 2383,
    "negation": 15408,
    "presence": 14452,
}


@cache
def load_published(name: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a published table, such as "gemex_table5"."""
    with (Path(__file__).parent / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))
