"""The Brixia score: a senior and a junior radiologist on the six zones of each radiograph, as ratings.

One question is one zone of one radiograph, answered 0 to 3. Measure with ``--weights quadratic``.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

_READERS = {"S": "senior", "J": "junior"}


def main(annotations: Path, out: Path) -> int:
    """Write the ratings, and return 0."""
    with (
        annotations.open(encoding="utf-8-sig", newline="") as source,
        out.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("question_id", "rater", "kind", "answer", "task", "exam", "n_options"))
        for record in csv.DictReader(source):
            name = record["filename"]
            for column_prefix, reader in _READERS.items():
                writer.writerows(
                    (
                        f"{name} {zone}",
                        reader,
                        "reader",
                        record[f"{column_prefix}-{zone}"],
                        f"zone {zone}",
                        name,
                        4,
                    )
                    for zone in "ABCDEF"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
