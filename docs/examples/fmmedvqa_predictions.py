"""Converts FM_MedVQA's answers on VQA-RAD to overread.prediction/1. Rows are matched to questions by text.

Questions with the same text are matched in the order of the file. Rows without a question are listed.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import defaultdict, deque
from pathlib import Path


def main(predictions: Path, questions: Path, out: Path, unjoined_path: Path) -> int:
    """Write the predictions and the unmatched rows. Return the exit code 0."""
    ids_by_text: dict[str, deque[str]] = defaultdict(deque)
    for question in json.loads(questions.read_text(encoding="utf-8")):
        ids_by_text[_normalize(question["question"])].append(str(question["qid"]))
    joined_count = 0
    # The file is a JSON array, although its name ends in .jsonl.
    rows = json.loads(predictions.read_text(encoding="utf-8"))
    with (
        out.open("w", encoding="utf-8") as file,
        unjoined_path.open("w", encoding="utf-8", newline="") as unjoined_file,
    ):
        unjoined_writer = csv.writer(unjoined_file, lineterminator="\n")
        unjoined_writer.writerow(("row", "question"))
        for row in rows:
            question_text = _normalize(row["question"])
            if not ids_by_text[question_text]:
                unjoined_writer.writerow((row["question_id"], row["question"]))
                continue
            joined_count += 1
            line = {"question_id": ids_by_text[question_text].popleft(), "raw": str(row["answer_pred"])}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(
        f"{joined_count} of {len(rows)} rows joined; {len(rows) - joined_count} are listed in {unjoined_path}"
    )
    return 0


def _normalize(question: str) -> str:
    return " ".join(question.lower().split())


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:5])))
