"""Corrects the reply of a model as experts corrected its questions, for an in-context example."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from domain.questions import Question, option_letter


def correct_reply(reply: str, questions: Mapping[str, Question]) -> str:
    """Return a reply with only those questions that experts accepted, as they corrected them.

    Questions that nobody judged are left out, too: an example must not teach what nobody has checked.

    Args:
        reply: JSON with numbered questions or lists of them, as the recipes request it.
        questions: the corrected questions by the stem as it was generated.
    """
    corrected: dict[str, object] = {}
    for name, entries in json.loads(reply).items():
        if isinstance(entries, dict):  # by number, with null for a question that is left out
            corrected[name] = {
                number: _correct_if_accepted(entry, questions) for number, entry in entries.items()
            }
        else:
            corrected_entries = (_correct_if_accepted(entry, questions) for entry in entries)
            corrected[name] = [entry for entry in corrected_entries if entry is not None]
    return json.dumps(corrected, ensure_ascii=False, indent=1)


def _correct_if_accepted(
    entry: Mapping[str, Any] | None, questions: Mapping[str, Question]
) -> dict[str, Any] | None:
    """Return a question of a reply as corrected; None if there is none or nobody accepted it."""
    question = questions.get(" ".join(entry["question"].split())) if entry else None
    return None if entry is None or question is None else _correct_entry(entry, question)


def _correct_entry(entry: Mapping[str, Any], question: Question) -> dict[str, Any]:
    letters = [] if isinstance(question.answer, str) else [option_letter(i) for i in question.answer]
    values: dict[str, Any] = {
        "question": question.stem,
        "options": {option_letter(i): option for i, option in enumerate(question.options)},
        "answer": question.answer if isinstance(question.answer, str) else letters[0],
        "answers": letters,
        "reason": question.explanation,
        "explanation": question.explanation,
        "task": question.task.value if question.task else None,
        "category": question.category or "",
        "subcategory": question.subcategory or "",
        "difficulty": question.difficulty.value if question.difficulty else None,
    }
    return {name: values.get(name, value) for name, value in entry.items()}
