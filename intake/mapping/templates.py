"""Templates of question tables to download and fill in: CSV, XLSX and JSON Lines, with two examples."""

from __future__ import annotations

import csv
import json
from io import BytesIO, StringIO

_ROWS = (
    {
        "id": "q1",
        "exam": "exam-1",
        "image": "exam-1/pa.png",
        "question": "Which finding is present on this radiograph?",
        "option_a": "Pleural effusion",
        "option_b": "Pneumothorax",
        "option_c": "Consolidation",
        "option_d": "Cardiomegaly",
        "answer": "C",
        "explanation": "An airspace opacity with air bronchograms is seen in the left lower lobe.",
        "task": "presence",
        "category": "Lung opacity",
        "difficulty": "easy",
    },
    {
        "id": "q2",
        "exam": "exam-1",
        "image": "exam-1/pa.png",
        "question": "Is there a pleural effusion?",
        "option_a": "",
        "option_b": "",
        "option_c": "",
        "option_d": "",
        "answer": "no",
        "explanation": "Both costophrenic angles are sharp.",
        "task": "presence",
        "category": "Pleura",
        "difficulty": "easy",
    },
)
#: The file extensions of the templates.
KINDS = ("csv", "xlsx", "jsonl")


def build_template(kind: str) -> bytes:
    """Return the content of a template; ``kind`` is one of KINDS."""
    if kind == "xlsx":
        return _build_workbook()
    if kind == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in _ROWS).encode()
    text = StringIO(newline="")
    writer = csv.DictWriter(text, list(_ROWS[0]))
    writer.writeheader()
    writer.writerows(_ROWS)
    return text.getvalue().encode("utf-8-sig")  # spreadsheets recognise UTF-8 by its byte-order mark


def _build_workbook() -> bytes:
    from openpyxl import Workbook  # noqa: PLC0415 - only this template needs it

    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet("Questions")
    sheet.append(list(_ROWS[0]))
    for row in _ROWS:
        sheet.append(list(row.values()))
    content = BytesIO()
    workbook.save(content)
    return content.getvalue()
