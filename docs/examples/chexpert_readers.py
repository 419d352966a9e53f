"""CheXpert's test set: radiologists and models against the reference, as ratings for ``cli.py measure``.

One question is one finding of one study, answered 1 (present) or 0. Source of the files: the repository
cheXpert-test-set-labels of the dataset's authors.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

_HEADER = ("question_id", "rater", "kind", "answer", "task", "exam", "n_options", "set_reference")


def main(folder: Path, out: Path) -> int:
    """Write the ratings, and return 0."""
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_HEADER)
        writer.writerows(
            _read_ratings(folder / "groundtruth.csv", "majority", "reference", set_reference=False)
        )
        for path in sorted((folder / "radiologists" / "groundtruth").glob("*.csv")):
            writer.writerows(_read_ratings(path, path.stem.removesuffix("_gt"), "reader", set_reference=True))
        for path in sorted((folder / "radiologists" / "benchmark_radiologists").glob("*.csv")):
            writer.writerows(_read_ratings(path, path.stem, "reader", set_reference=False))
        for path in sorted((folder / "example_models" / "decisions").rglob("*.csv")):
            writer.writerows(_read_ratings(path, path.stem, "model", set_reference=False))
    return 0


def _read_ratings(path: Path, rater: str, kind: str, *, set_reference: bool) -> Iterator[tuple[str, ...]]:
    """Yield one row per finding. Columns are read by name, because their order differs between files."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            study = row.get("Study") or row.get("") or next(iter(row.values()))
            for finding, value in row.items():
                if finding in ("Study", "") or value not in ("0", "1", "0.0", "1.0"):
                    continue
                yield (
                    f"{study} {finding}",
                    rater,
                    kind,
                    value[0],
                    finding,
                    study,
                    "2",
                    "yes" if set_reference else "",
                )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
