"""Finds sentences that state which option is correct: "Option B is correct", "B is the correct answer"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from domain.questions import Answer
from domain.vocabulary import AnswerFormat
from reader_study.reply_values import parse_answer

_NOUN = r"(?:answers?|options?|choices?)"
_SENTENCE = re.compile(r"[^\n]+?(?:[.;!?](?=[ \t])|$)", re.MULTILINE)
#: The longest sentence that is read, in characters.
_MAX_SENTENCE = 400
#: A whole sentence, or its beginning up to a reason. Conditions, doubts and questions do not match.
_STATEMENT = re.compile(
    r"(?:(?:so|therefore|thus|hence)\b,?[ \t]+)?(?:(?:based on|given)\b[^,:]{1,200},[ \t]+)?"
    r"(?:I[ \t]+(?:think|believe)[ \t]+(?:that[ \t]+)?)?"
    rf"(?:{_NOUN}[ \t]+)?(?P<name>\S.{{0,199}}?)[ \t]+(?:is|are)[ \t]+"
    r"(?:(?:also|the|my|clearly|therefore|most likely|only)[ \t]+)*"
    r"(?:(?P<bare>correct|right)|"
    rf"(?:correct|right|best|final|most likely|most appropriate)[ \t]+{_NOUN}|answers?)"
    r"(?=[ \t]*(?:[.!;:]|$)|[ \t]*,(?![ \t]*(?:but|however|although|though|if|unless|only|and|or)\b)"
    r"|[ \t]+(?:because|since|as|due to|given)\b)",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"not\s+(?P<denied>.{1,200}?),?\s+but\s+(?:rather\s+)?(?P<stated>.{1,200})", re.IGNORECASE
)
_LETTER_NAME = re.compile(r"[\[(]?[A-Za-z][\])]?")


def find_stated_options(
    text: str, *, format_: AnswerFormat, options: Sequence[str]
) -> Iterator[tuple[Answer, int, int]]:
    """Yield each answer that a sentence states to be correct, with the statement's start and end.

    Args:
        text: a reply without marks of emphasis.
        format_: the answer format of the question.
        options: the options of the question.
    """
    for sentence in _SENTENCE.finditer(text):
        sentence_text = sentence[0].lstrip()
        if len(sentence_text) > _MAX_SENTENCE:
            continue
        match = _STATEMENT.match(sentence_text)
        if match is None:
            continue
        name = match["name"].strip()
        # "The effusion is right" may state a side
        if match["bare"] and match["bare"].lower() == "right" and not _LETTER_NAME.fullmatch(name):
            continue
        answer = parse_answer(name, format_=format_, options=options)
        if answer is not None:
            start = sentence.end() - len(sentence_text)
            yield answer, start, start + match.end()
            # "B is the correct answer: Pneumothorax" names a second answer
            named_text = sentence_text[match.end() :].lstrip(" \t:")
            second_answer = parse_answer(named_text, format_=format_, options=options)
            if second_answer is not None:
                yield second_answer, start + match.end(), sentence.end()


def parse_contrast(text: str, *, format_: AnswerFormat, options: Sequence[str]) -> Answer | None:
    """Return the answer B of "not A but B", if A and B are different and the text contains nothing else."""
    match = _CONTRAST.fullmatch(text.strip(" .!"))
    if match is None:
        return None
    denied = parse_answer(match["denied"], format_=format_, options=options)
    stated = parse_answer(match["stated"], format_=format_, options=options)
    return None if denied is None or stated is None or denied == stated else stated
