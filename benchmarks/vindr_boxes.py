"""Agreement on boxes between the three readers of an image: by ``measures.boxes``, and by plain loops.

``python -m benchmarks.vindr_boxes FOLDER`` reads ``vinbigdata-train.csv`` of VinDr-CXR (image_id, class_name,
rad_id and corners; a row without corners is "No finding"). For every image and every pair of its readers, the
boxes of one class are matched one to one; the pair's score is the sum of overlaps divided by the larger
number of boxes. Pairs in which neither drew a box have no score. Both ways must give the same numbers.
"""

from __future__ import annotations

import csv
import math
import sys
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

from domain.boxes import Box, LabelledBox
from measures.boxes import mean_overlap
from review.forms import overlap_of_boxes

Corners = tuple[float, float, float, float]
#: image -> reader -> [(class, corners)]
Drawn = dict[str, dict[str, list[tuple[str, Corners]]]]
SAME = 1e-9


def main(arguments: list[str]) -> int:
    """Print both results; return 0 if they agree, else 1."""
    if len(arguments) != 1:
        print("usage: python -m benchmarks.vindr_boxes FOLDER", file=sys.stderr)
        return 2
    drawn = read(Path(arguments[0]) / "vinbigdata-train.csv")
    ours, plain = by_measures(drawn), by_loops(drawn)
    readers = sorted({len(each) for each in drawn.values()})
    print(f"{len(drawn):,} images, readers an image: {', '.join(str(each) for each in readers)}")
    print(f"{ours['pairs']:,.0f} pairs of readers in which one or both drew a box")
    for name, value in ours.items():
        beside = f"   plain loops {plain[name]:.6f}" if name in plain else ""
        print(f"  {name:<40} {value:.6f}{beside}")
    alike = all(math.isclose(ours[name], plain[name], abs_tol=SAME) for name in plain)
    print("The two agree." if alike else "The two DIFFER.")
    return 0 if alike else 1


def read(file: Path) -> Drawn:
    """The boxes by image and reader; the list of a reader who drew none is empty.

    Boxes without extent are left out.
    """
    drawn: Drawn = defaultdict(dict)
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            boxes = drawn[row["image_id"]].setdefault(row["rad_id"], [])
            if row["x_min"]:
                x_min, y_min, x_max, y_max = (
                    float(row[each]) for each in ("x_min", "y_min", "x_max", "y_max")
                )
                if x_min < x_max and y_min < y_max:
                    boxes.append((row["class_name"], (x_min, y_min, x_max, y_max)))
    return drawn


def by_measures(drawn: Drawn) -> dict[str, float]:
    """The agreement as the page Agreement computes it, with its bootstrap over images."""
    overlaps, images = [], []
    for number, readers in enumerate(drawn.values()):
        for one, other in combinations(sorted(readers), 2):
            overlaps.append(overlap_of_boxes(_labelled(readers[one]), _labelled(readers[other])))
            images.append(number)
    found = mean_overlap(overlaps, clusters=images, seed=7)
    figures = {
        "pairs": float(found.n),
        "over the larger number (V-score)": found.score,
        "  lower limit, bootstrap by image": found.low,
        "  upper limit": found.high,
        "over the first reader's boxes": found.per_truth,
        "over matched pairs": found.per_match,
    }
    return {name: math.nan if value is None else value for name, value in figures.items()}


def by_loops(drawn: Drawn) -> dict[str, float]:
    """The same agreement written out in loops, without the project's code."""
    larger, first, matched = [], [], []
    for readers in drawn.values():
        for one, other in combinations(sorted(readers), 2):
            a, b = readers[one], readers[other]
            if not a and not b:
                continue
            total, pairs = 0.0, 0
            for kind in {name for name, _ in a + b}:
                ours = [box for name, box in a if name == kind]
                theirs = [box for name, box in b if name == kind]
                if not ours or not theirs:
                    continue
                table = np.zeros((len(ours), len(theirs)))
                for row, box in enumerate(ours):
                    for column, against in enumerate(theirs):
                        table[row, column] = _iou(box, against)
                rows, columns = linear_sum_assignment(-table)
                total += sum(table[row, column] for row, column in zip(rows, columns, strict=True))
                pairs += len(rows)
            larger.append(total / max(len(a), len(b)))
            if a:
                first.append(total / len(a))
            if pairs:
                matched.append(total / pairs)
    return {
        "pairs": float(len(larger)),
        "over the larger number (V-score)": sum(larger) / len(larger),
        "over the first reader's boxes": sum(first) / len(first),
        "over matched pairs": sum(matched) / len(matched),
    }


def _iou(a: Corners, b: Corners) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    common = width * height
    return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common)


def _labelled(boxes: list[tuple[str, Corners]]) -> tuple[LabelledBox, ...]:
    return tuple(
        LabelledBox(radiograph="image", label=name, box=Box(x_min=a, y_min=b, x_max=c, y_max=d))
        for name, (a, b, c, d) in boxes
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
