"""FM_MedVQA's answers on VQA-RAD: rows joined to questions by their text, as overread.prediction/1.

Ties are taken in the order in which they stand; rows without a question are listed.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import defaultdict, deque
from pathlib import Path


def main(predictions: Path, questions: Path, out: Path, unjoined: Path) -> int:
    """Write predictions, and the rows that join to no question; 0 done."""
    waiting: dict[str, deque[str]] = defaultdict(deque)
    for each in json.loads(questions.read_text(encoding="utf-8")):
        waiting[_text(each["question"])].append(str(each["qid"]))
    joined = 0
    rows = json.loads(predictions.read_text(encoding="utf-8"))  # one array, whatever the file is called
    with out.open("w", encoding="utf-8") as file, unjoined.open("w", encoding="utf-8", newline="") as rest:
        left = csv.writer(rest, lineterminator="\n")
        left.writerow(("row", "question"))
        for row in rows:
            key = _text(row["question"])
            if not waiting[key]:
                left.writerow((row["question_id"], row["question"]))
                continue
            joined += 1
            line = {"question_id": waiting[key].popleft(), "raw": str(row["answer_pred"])}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(f"{joined} of {len(rows)} rows joined; {len(rows) - joined} are listed in {unjoined}")
    return 0


def _text(question: str) -> str:
    return " ".join(question.lower().split())


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:5])))
