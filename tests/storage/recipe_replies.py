"""Writes valid replies for the prompts of the recipes, as a model that follows every rule would."""

from __future__ import annotations

import json
import re
from typing import Any

_LINE = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
_LOCATION = re.compile(r" \[visual location: ([^\]]*)\]$")
#: A part of a word, and the region of a sentence that contains it.
_REGIONS = (
    ("heart", "cardiac silhouette"),
    ("cardiac", "cardiac silhouette"),
    ("mediastin", "mediastinum"),
    ("trachea", "trachea"),
    ("spine", "spine"),
    ("left", "left lower lung zone"),
    ("right", "right lower lung zone"),
)
_COMMON = {"content_type": "abnormality", "task": "presence", "category": "Heart", "difficulty": "easy"}


def answer(body: dict[str, Any]) -> str:
    """The reply to a request of a recipe, chosen by the name of its schema."""
    stage, schema = (body["response_format"]["json_schema"][name] for name in ("name", "schema"))
    lines = [(int(number), text) for number, text in _LINE.findall(body["messages"][-1]["content"])]
    reply = _WRITERS[stage](lines)
    if stage.endswith("questions"):  # the prompts request questions by number
        reply = {
            name: dict(zip(schema["properties"][name]["required"], entries, strict=False))
            for name, entries in reply.items()
        }
    return json.dumps(reply)


def write_pairs(lines: list[tuple[int, str]]) -> dict[str, Any]:
    return {
        "pairs": [
            {"number": number, "sentence": text, "region": _find_region(text)}
            for number, text in lines
            if not text.startswith("behave")
        ]
    }


def write_gemex_questions(lines: list[tuple[int, str]]) -> dict[str, Any]:
    regions = [_LOCATION.search(text)[1] for _, text in lines]

    def make_common_fields(index: int) -> dict[str, Any]:
        line_index = index % len(lines)
        return {
            "reason": f"The {regions[line_index]} looks as it does in this finding, number {index}.",
            "regions": [regions[line_index]],
            "phrases": [lines[line_index][0]],
            **_COMMON,
        }

    return {
        "open": [
            {"question": f"What does region {n} show?", "answer": f"Finding {n}", **make_common_fields(n)}
            for n in range(3)
        ],
        "closed": [
            {"question": f"Is the finding {n} present?", "answer": "yes", **make_common_fields(n)}
            for n in range(2)
        ],
        "single": [
            {
                "question": f"Which statement {n} fits?",
                "options": _make_options(n),
                "answer": "B",
                **make_common_fields(n),
            }
            for n in range(3)
        ],
        "multiple": [
            {
                "question": f"Which statements {n} fit?",
                "options": _make_options(n),
                "answers": ["A", "C"],
                **make_common_fields(n),
            }
            for n in range(3)
        ],
    }


def write_bullets(lines: list[tuple[int, str]]) -> dict[str, Any]:
    return {
        "structures": [
            {
                "structure": "Chest",
                "findings": [
                    {
                        "finding": text.rstrip("."),
                        "is_abnormal": not text.casefold().startswith("no "),
                        "details": [],
                        "sentences": [number],
                    }
                    for number, text in lines
                ],
            }
        ]
    }


def write_rexvqa_questions(lines: list[tuple[int, str]]) -> dict[str, Any]:
    return {
        "questions": [
            {
                "question": f"Which {task} statement fits these images?",
                "options": _make_options(number),
                "answer": "D",
                "explanation": "The option fits what the images show, and the others contradict it.",
                "task": task,
                "difficulty": "medium",
                "class": "Respiratory System",
                "category": "Lung Volume",
                "subcategory": "Other",
                "bullets": [lines[number % len(lines)][0]],
            }
            for number, task in enumerate(("presence", "location", "negation", "differential", "geometric"))
        ]
    }


def _find_region(text: str) -> str:
    lowered = text.casefold()
    return next((region for word, region in _REGIONS if word in lowered), "bilateral lung")


def _make_options(number: int) -> dict[str, str]:
    return {letter: f"Statement {letter.lower()}{number} on the lungs" for letter in "ABCD"}


_WRITERS = {
    "gemex_regions": write_pairs,
    "gemex_questions": write_gemex_questions,
    "rexvqa_bullets": write_bullets,
    "rexvqa_questions": write_rexvqa_questions,
}
