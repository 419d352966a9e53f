"""The texts that BLEU, ROUGE and judges compare: answer and reason of the key, and what a model wrote.

As in GEMeX, the reference is the answer of the key followed by its explanation, and the candidate is the
whole output of the model. Thoughts, tags and coordinates are not part of it.

Source: Liu B et al., GEMeX, ICCV 2025, section 4.2.
"""

from __future__ import annotations

import re

from domain.questions import Answer, Question, format_answer
from domain.readings import Prediction

#: Part of the signatures of measures of texts; it changes with the rules of this module.
TEXT_SIGNATURE = "text:answer+reason/1"
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.IGNORECASE | re.DOTALL)
_LOCATION = re.compile(r"<location>[^<]*(?:</location>)?", re.IGNORECASE)
_TAG = re.compile(r"</?(?:answer|reason|explanation|final_answer)>", re.IGNORECASE)


def build_reference(question: Question) -> str:
    """Return the answer of the key and its explanation as one text."""
    return _join(question.answer, question.options, question.explanation)


def build_candidate(prediction: Prediction | None, question: Question) -> str:
    """Return what a model wrote; "" if there is no reply.

    For answers from a file without free text, the result is the text of the answer and its explanation.
    """
    if prediction is None:
        return ""
    if prediction.raw is not None:
        return clean_reply(prediction.raw)
    if prediction.answer is None:
        return prediction.explanation
    return _join(prediction.answer, question.options, prediction.explanation)


def clean_reply(reply: str) -> str:
    r"""Return a reply on one line, without thoughts, tags and coordinates.

    >>> clean_reply("<think>Hm.</think><answer> B <reason> The base is\n blunted. <location>[[1, 2, 3, 4]]")
    'B The base is blunted.'
    """
    text = _TAG.sub(" ", _LOCATION.sub(" ", _THOUGHT.sub(" ", reply)))
    return " ".join(text.split())


def _join(answer: Answer, options: tuple[str, ...], explanation: str) -> str:
    return " ".join(f"{format_answer(answer, options)} {explanation}".split())
