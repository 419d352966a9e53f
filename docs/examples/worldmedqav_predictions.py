"""WorldMedQA-V: the answers of LLaVA configurations to the same questions, as ratings.

Each file states an accuracy; it is printed beside the one that its answers give.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path


def main(folder: Path, out: Path) -> int:
    """Write the ratings; 0 done, 1 where a stated accuracy is not that of the answers."""
    gold: dict[str, str] = {}
    differing = 0
    with out.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("question_id", "rater", "kind", "answer", "n_options"))
        for path in sorted(folder.glob("*.json")):
            found = json.loads(path.read_text(encoding="utf-8"))
            right = 0
            name = path.stem.removesuffix("_evaluation")
            for number, each in found["predictions"].items():
                key = each["gold_answer"]
                if gold.setdefault(number, key) != key:
                    raise SystemExit(f"{path}: question {number} has the key {key}, elsewhere {gold[number]}")
                said = str(each["predicted_answer"] or "none").strip()
                right += said == key
                rows.writerow((number, name, "model", said, 4))
            own = right / len(found["predictions"])
            differing += abs(own - found["accuracy"]) > 1e-12
            print(f"{name}: {own:.6f} of {len(found['predictions'])}, stated {found['accuracy']:.6f}")
        rows.writerows((number, "key", "reference", key, 4) for number, key in gold.items())
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
