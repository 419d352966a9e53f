"""Paraphrased stems: the request for a paraphrase, and the check that it has the same meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from domain.evaluations import EvaluationCase
from evaluation.cases import ConditionCases, EvaluatedQuestion
from language_models.prompts import Prompt
from language_models.requests import ModelRequest
from quality.duplicates.wording import find_difference, normalise, read_meaning

#: The prompt with which paraphrases are requested.
PARAPHRASE_PROMPT = Path(__file__).parent / "prompts" / "paraphrase.toml"
#: Reasons why a question is not asked with a paraphrased stem.
NO_PARAPHRASE, SAME_WORDS = "no paraphrase was written", "the paraphrase has the same words"
_QUOTES = "\"'“”‘’`"


def build_paraphrase_request(item: EvaluatedQuestion, prompt: Prompt) -> ModelRequest:
    """Build the request for a paraphrase of the stem. Options, key and radiographs are not part of it."""
    return prompt.build_request(custom_id=str(item.number), values={"question": item.question.stem})


def choose_paraphrased_cases(
    questions: Sequence[EvaluatedQuestion], as_given: Mapping[int, EvaluationCase], replies: Mapping[int, str]
) -> ConditionCases:
    """Build cases for the questions whose paraphrase has the same meaning, and count the others by reason.

    Meanings are compared as in the search for near-duplicates.

    Args:
        questions: the questions of a split.
        as_given: the cases of the condition "as given"; other questions are not asked.
        replies: the replies with paraphrases, by the id of the question in the database.
    """
    cases, excluded = [], Counter[str]()
    for item in questions:
        if item.number not in as_given:
            continue
        stem = clean_reply(replies.get(item.number, ""))
        reason = find_rejection(item.question.stem, stem)
        if reason is None:
            cases.append(EvaluationCase(question_row_id=item.number, stem=stem))
        else:
            excluded[reason] += 1
    return ConditionCases(cases=tuple(cases), excluded=dict(sorted(excluded.items())))


def find_rejection(stem: str, paraphrase: str) -> str | None:
    """Return the reason why a paraphrase is not used; None if it is used.

    >>> find_rejection("Is there an effusion on the left?", "Does the left side show an effusion?")
    >>> find_rejection("Is there an effusion on the left?", "Is there an effusion on the right?")
    'the paraphrase differs in laterality'
    """
    if not normalise(paraphrase):
        return NO_PARAPHRASE
    if normalise(paraphrase) == normalise(stem):
        return SAME_WORDS
    difference = find_difference(read_meaning(stem), read_meaning(paraphrase))
    return None if difference is None else f"the paraphrase differs in {difference.value}"


def clean_reply(reply: str) -> str:
    r"""Return a reply on one line, without quotation marks around it.

    >>> clean_reply('“Is there\n an effusion?” ')
    'Is there an effusion?'
    """
    return " ".join(reply.split()).strip(_QUOTES).strip()
