"""Reads the yes or no with which a reply to a closed question begins."""

from __future__ import annotations

import re

#: "Yes, …", "No. …", "No the …". Not "No evidence of …", "No. 3", "no. of ribs", "Yes or no".
_LEADING_WORD = re.compile(
    r"[\"'“(\[]?(?P<word>yes|no)\b[\"'”)\]]?"
    r"(?=\s*$|\s*\n|\s*[,;:!]|\s*\.(?!\s*(?:\d|of\b))|\s+[-–—]\s|\s*[–—]|\s+(?:the|there|this|these|it|they)\b)",
    re.IGNORECASE,
)
#: If these words follow, the leading word is not an answer: a courtesy, a condition, a restriction, a doubt.
_NOT_AN_ANSWER = re.compile(
    r"(?:i|we|you|let|please|sure|thanks?|of course|if|unless|but|or|and|although|though|however|maybe|"
    r"perhaps|possibly|probably not|in some|not necessarily|problem|worries)\b|i['’]",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:unsure|uncertain|unable to|not (?:sure|certain|clear|possible|enough)|impossible to|"
    r"(?:difficult|hard) to (?:say|tell|determine|assess|know)|"
    r"(?:cannot|can ?not|can['’]t|could not|couldn['’]t) (?:be )?(?:sure|certain|say|said|tell|told|"
    r"know|known|determined?|confirm(?:ed)?|assess(?:ed)?|answer(?:ed)?|"
    r"diagnosed?|excluded?|ruled? out))\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:no|not|none|never|neither|cannot)\b|n['’]t\b", re.IGNORECASE)
_PRESENCE = re.compile(
    r"\bthere (?:is|are|was|were|appears? to be|seems? to be)\b"
    r"|\b(?:is|are|was|were) (?:\w+ly )?(?:present|seen|visible|evident|visualized|visualised|identified)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?\n]")
_CLAUSE_END = re.compile(r"[,;:.!?\n]|\s[-–—]\s|\b(?:which|because|since|as|so)\b", re.IGNORECASE)
#: By leading word, the opposite word later in the reply; a "no" must end a clause.
_LATER_WORD = {
    "yes": re.compile(r"\bno\b[\"'”)\]]*\s*(?:[.,;:!?\n]|$)", re.IGNORECASE),
    "no": re.compile(r"\byes\b", re.IGNORECASE),
}


def find_leading_word(text: str) -> str | None:
    """Return the yes or no with which the text begins, regardless of the following text; None if neither."""
    match = _LEADING_WORD.match(text.lstrip())
    return match["word"].lower() if match else None


def read_leading_yes_no(text: str) -> str | None:
    """Return the yes or no with which the text begins.

    Args:
        text: a reply to a closed question, without marks of emphasis.

    Returns:
        "yes" or "no". None if the text does not begin with one of them, if a courtesy, a condition or a doubt
        follows, or if the text contradicts the word: "Yes, there is no effusion", "No, there is an effusion",
        a later "no" or "yes". Such a text can be a valid answer to some questions ("Is the lung clear?"), but
        the question is not considered here.
    """
    text = text.strip()
    match = _LEADING_WORD.match(text)
    if match is None:
        return None
    word = match["word"].lower()
    following_text = text[match.end() :].lstrip(" \t\n,.;:!-–—\"'”)]")
    sentence = _SENTENCE_END.split(following_text, maxsplit=1)[0]
    clause = _CLAUSE_END.split(following_text, maxsplit=1)[0]
    if (
        _NOT_AN_ANSWER.match(following_text)
        or _DOUBT.search(sentence)
        or _LATER_WORD[word].search(following_text)
    ):
        return None
    if word == "yes":
        return None if _NEGATION.search(clause) else word
    return None if _PRESENCE.search(clause) and not _NEGATION.search(clause) else word
