"""WorldMedQA-V: the answers of LLaVA configurations to the same questions, as ratings.

Each file states an accuracy, which is printed beside the accuracy of its answers.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path


def main(folder: Path, out: Path) -> int:
    """Write the ratings; return 1 if a stated accuracy differs from the accuracy of the answers, else 0."""
    keys_by_number: dict[str, str] = {}
    mismatches = 0
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("question_id", "rater", "kind", "answer", "n_options"))
        for path in sorted(folder.glob("*.json")):
            evaluation = json.loads(path.read_text(encoding="utf-8"))
            correct_count = 0
            model_name = path.stem.removesuffix("_evaluation")
            for number, prediction in evaluation["predictions"].items():
                key = prediction["gold_answer"]
                if keys_by_number.setdefault(number, key) != key:
                    raise SystemExit(
                        f"{path}: question {number} has the key {key}, elsewhere {keys_by_number[number]}"
                    )
                answer = str(prediction["predicted_answer"] or "none").strip()
                correct_count += answer == key
                writer.writerow((number, model_name, "model", answer, 4))
            accuracy = correct_count / len(evaluation["predictions"])
            mismatches += abs(accuracy - evaluation["accuracy"]) > 1e-12
            print(
                f"{model_name}: {accuracy:.6f} of {len(evaluation['predictions'])}, stated"
                f" {evaluation['accuracy']:.6f}"
            )
        writer.writerows((number, "key", "reference", key, 4) for number, key in keys_by_number.items())
    return 1 if mismatches else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
