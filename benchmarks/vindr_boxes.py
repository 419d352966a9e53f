"""Computes how well the three readers of an image agree on boxes, by ``measures.boxes`` and by plain loops.

``python -m benchmarks.vindr_boxes FOLDER`` reads ``vinbigdata-train.csv`` of VinDr-CXR (image_id, class_name,
rad_id and corners; a row without corners is "No finding"). For each image and each pair of its readers, the
boxes of one class are matched one to one. The score of a pair is the sum of overlaps divided by the larger
number of boxes. Pairs in which neither reader drew a box have no score. Both methods must give equal results.
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
from review.corrected_versions import compute_box_overlap

Corners = tuple[float, float, float, float]
#: image -> reader -> [(class, corners)]
BoxesByReader = dict[str, dict[str, list[tuple[str, Corners]]]]
TOLERANCE = 1e-9


def main(arguments: list[str]) -> int:
    """Print both results; return 0 if they agree, else 1."""
    if len(arguments) != 1:
        print("usage: python -m benchmarks.vindr_boxes FOLDER", file=sys.stderr)
        return 2
    boxes_by_image = read_boxes(Path(arguments[0]) / "vinbigdata-train.csv")
    our_results, loop_results = measure_with_project(boxes_by_image), measure_with_loops(boxes_by_image)
    reader_counts = sorted({len(image_readers) for image_readers in boxes_by_image.values()})
    print(
        f"{len(boxes_by_image):,} images, readers per image:"
        f" {', '.join(str(reader_count) for reader_count in reader_counts)}"
    )
    print(f"{our_results['pairs']:,.0f} pairs of readers in which one or both drew a box")
    for name, value in our_results.items():
        loop_note = f"   plain loops {loop_results[name]:.6f}" if name in loop_results else ""
        print(f"  {name:<40} {value:.6f}{loop_note}")
    is_same = all(
        math.isclose(our_results[name], loop_results[name], abs_tol=TOLERANCE) for name in loop_results
    )
    print("The two agree." if is_same else "The two DIFFER.")
    return 0 if is_same else 1


def read_boxes(file: Path) -> BoxesByReader:
    """Read the boxes by image and reader. The list of a reader who drew no box is empty.

    Boxes without area are left out.
    """
    boxes_by_image: BoxesByReader = defaultdict(dict)
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            boxes = boxes_by_image[row["image_id"]].setdefault(row["rad_id"], [])
            if row["x_min"]:
                x_min, y_min, x_max, y_max = (
                    float(row[corner]) for corner in ("x_min", "y_min", "x_max", "y_max")
                )
                if x_min < x_max and y_min < y_max:
                    boxes.append((row["class_name"], (x_min, y_min, x_max, y_max)))
    return boxes_by_image


def measure_with_project(boxes_by_image: BoxesByReader) -> dict[str, float]:
    """Compute the agreement as the page Agreement does, with a bootstrap over images."""
    overlaps, images = [], []
    for number, readers in enumerate(boxes_by_image.values()):
        for first_reader, second_reader in combinations(sorted(readers), 2):
            overlaps.append(
                compute_box_overlap(
                    _to_labelled_boxes(readers[first_reader]), _to_labelled_boxes(readers[second_reader])
                )
            )
            images.append(number)
    overlap = mean_overlap(overlaps, clusters=images, seed=7)
    figures = {
        "pairs": float(overlap.n),
        "over the larger number (V-score)": overlap.score,
        "  lower limit, bootstrap by image": overlap.low,
        "  upper limit": overlap.high,
        "over the first reader's boxes": overlap.per_truth,
        "over matched pairs": overlap.per_match,
    }
    return {name: math.nan if value is None else value for name, value in figures.items()}


def measure_with_loops(boxes_by_image: BoxesByReader) -> dict[str, float]:
    """Compute the same agreement with plain loops, without the project's code."""
    per_larger_count, per_first_reader, per_match = [], [], []
    for readers in boxes_by_image.values():
        for first_reader, second_reader in combinations(sorted(readers), 2):
            a, b = readers[first_reader], readers[second_reader]
            if not a and not b:
                continue
            overlap_sum, match_count = 0.0, 0
            for class_name in {name for name, _ in a + b}:
                first_boxes = [box for name, box in a if name == class_name]
                second_boxes = [box for name, box in b if name == class_name]
                if not first_boxes or not second_boxes:
                    continue
                table = np.zeros((len(first_boxes), len(second_boxes)))
                for row, box in enumerate(first_boxes):
                    for column, other_box in enumerate(second_boxes):
                        table[row, column] = _iou(box, other_box)
                rows, columns = linear_sum_assignment(-table)
                overlap_sum += sum(table[row, column] for row, column in zip(rows, columns, strict=True))
                match_count += len(rows)
            per_larger_count.append(overlap_sum / max(len(a), len(b)))
            if a:
                per_first_reader.append(overlap_sum / len(a))
            if match_count:
                per_match.append(overlap_sum / match_count)
    return {
        "pairs": float(len(per_larger_count)),
        "over the larger number (V-score)": sum(per_larger_count) / len(per_larger_count),
        "over the first reader's boxes": sum(per_first_reader) / len(per_first_reader),
        "over matched pairs": sum(per_match) / len(per_match),
    }


def _iou(a: Corners, b: Corners) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    intersection = width * height
    return intersection / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - intersection)


def _to_labelled_boxes(boxes: list[tuple[str, Corners]]) -> tuple[LabelledBox, ...]:
    return tuple(
        LabelledBox(radiograph="image", label=name, box=Box(x_min=a, y_min=b, x_max=c, y_max=d))
        for name, (a, b, c, d) in boxes
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
