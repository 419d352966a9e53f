"""Extraction by a judge: a model reads the answer from a reply from which no rule could extract it.

The judge sees the reply, and the question with its options in the order shown. It sees neither the key nor a
radiograph. It must write the answer alone, or "none"; any other text counts as no answer. Open questions have
no list of answers and are left out.
"""

from __future__ import annotations

from pathlib import Path

from domain.evaluations import Condition, EvaluationCase
from domain.questions import Answer
from evaluation.cases import EvaluatedQuestion
from evaluation.requests import build_values, list_shown_options
from language_models.prompts import Prompt
from language_models.requests import ModelRequest
from reader_study.reply_values import parse_answer

#: The rule of answers that a judge extracted; :mod:`reader_study.extraction` has the other rules.
BY_JUDGE = "judge"
#: The prompt of the judge.
EXTRACTION_PROMPT = Path(__file__).parent / "prompts" / "extract-answer.toml"
_NO_ANSWER = "none"


def build_extraction_request(
    item: EvaluatedQuestion, case: EvaluationCase, condition: Condition, prompt: Prompt, *, reply: str
) -> ModelRequest:
    """Build the request for one reply. Its id has the id of the question and the condition."""
    return prompt.build_request(
        custom_id=f"{item.number} {condition.value}",
        values={**build_values(item.question, case), "reply": reply},
    )


def parse_extraction_id(custom_id: str) -> tuple[int, Condition]:
    """Return the id of the question and the condition of a request.

    >>> parse_extraction_id("17 no image")
    (17, <Condition.NO_IMAGE: 'no image'>)
    """
    number, _, condition = custom_id.partition(" ")
    return int(number), Condition(condition)


def read_extraction(reply: str, item: EvaluatedQuestion, case: EvaluationCase) -> Answer | None:
    """Return the answer that a judge has written, in the options of the release; None if there is none."""
    text = reply.strip().rstrip(".")
    if text.casefold() == _NO_ANSWER:
        return None
    options = list_shown_options(item.question.options, case)
    return case.to_release_order(parse_answer(text, format_=item.question.format, options=options))
