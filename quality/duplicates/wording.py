"""Reads the meaning of a question's wording, to decide whether two questions are the same.

A text becomes a sequence of terms: sides, negations, regions, sizes and findings by name (`terms.toml`), and
every other word as it is. Words that change no meaning are dropped. Two texts mean the same if their terms
agree. Everything unknown counts as a difference, so the vocabulary limits the duplicates that are found, not
their correctness.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)?")
_UNITS_IN_MM = {
    "mm": 1.0,
    "millimeter": 1.0,
    "millimetre": 1.0,
    "cm": 10.0,
    "centimeter": 10.0,
    "centimetre": 10.0,
}
_NOT_PLURAL = ("ss", "us", "is", "as")
#: The minimum length of a word in which misspellings are corrected, and in which a letter may be substituted.
_MIN_LENGTH_CORRECTED, _MIN_LENGTH_SUBSTITUTED = 5, 7
#: The minimum length of two unknown words of which one can be a misspelling of the other.
_MIN_LENGTH_MISSPELT = 6


class TermKind(StrEnum):
    """What a term states. The value is used in counts and messages."""

    LATERALITY = "laterality"
    NEGATION = "negation"
    REGION = "region"
    SIZE = "size"
    FINDING = "finding"
    RELATION = "relation"
    WORD = "other words"


class Term(NamedTuple):
    """A term of a text: a name of `terms.toml`, or an unknown word."""

    kind: TermKind
    name: str


@dataclass(frozen=True, slots=True)
class Meaning:
    """The terms of a text, in order.

    ``known`` are the terms of `terms.toml`, ``unknown_words`` the other words. ``known`` is in order if
    ``is_ordered``, otherwise sorted. The order matters if two terms of a kind could be exchanged ("left ...
    right") or a relation occurs ("above").
    """

    terms: tuple[Term, ...]
    known: tuple[Term, ...]
    unknown_words: frozenset[str]
    is_ordered: bool


class Vocabulary(NamedTuple):
    """`terms.toml`: phrases by their first word, the longest first; neutral words; all single words."""

    phrases: dict[str, list[tuple[tuple[str, ...], Term]]]
    neutral: frozenset[str]
    words_by_letter: dict[str, tuple[str, ...]]
    known_words: frozenset[str]


def normalise(text: str) -> str:
    """Return a text without differences of case, punctuation, spacing and Unicode form.

    >>> normalise("Is there a  Pleural-effusion ?")
    'is there a pleural effusion'
    """
    return " ".join(_TOKEN.findall(unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")))


@lru_cache(maxsize=200_000)
def read_meaning(text: str) -> Meaning:
    """Read the terms of a text.

    >>> [term.name for term in read_meaning("Is the heart enlarged on the left side?").terms]
    ['cardiomegaly', 'left']
    """
    vocabulary = load_vocabulary()
    tokens = [token for token in _tokenise(text) if token not in vocabulary.neutral]
    terms: list[Term] = []
    start = 0
    while start < len(tokens):
        term, length = _match_term(tokens, start, vocabulary)
        terms.append(term)
        start += length
    known = [term for term in terms if term.kind is not TermKind.WORD]
    is_ordered = _is_order_relevant(known)
    return Meaning(
        terms=tuple(terms),
        known=tuple(known) if is_ordered else tuple(sorted(known)),
        unknown_words=frozenset(term.name for term in terms if term.kind is TermKind.WORD),
        is_ordered=is_ordered,
    )


def find_difference(first: Meaning, second: Meaning) -> TermKind | None:
    """Return the first kind of terms in which two texts differ; None if they mean the same.

    >>> find_difference(read_meaning("Is there an effusion?"), read_meaning("Is there no effusion?"))
    <TermKind.NEGATION: 'negation'>
    """
    if first.known != second.known:
        for kind in TermKind:
            if _list_names(first, kind) != _list_names(second, kind):
                return kind
        return TermKind.RELATION  # the same terms in another order
    if first.is_ordered:
        if len(first.terms) != len(second.terms):
            return TermKind.WORD
        pairs = zip(first.terms, second.terms, strict=True)
        is_same = all(
            a == b or (a.kind is b.kind is TermKind.WORD and is_misspelling(a.name, b.name)) for a, b in pairs
        )
        return None if is_same else TermKind.WORD
    return None if _are_same_words(first.unknown_words, second.unknown_words) else TermKind.WORD


@lru_cache(maxsize=100_000)
def is_misspelling(first: str, second: str) -> bool:
    """Whether two unknown words can be the same word: one letter added, removed, or two letters transposed.

    A substituted letter is not accepted, because it often gives another word (perineal, peroneal); nor is a
    different first letter (typical, atypical).

    >>> is_misspelling("bronchiectasis", "bronchietasis"), is_misspelling("perineal", "peroneal")
    (True, False)
    """
    if min(len(first), len(second)) < _MIN_LENGTH_MISSPELT or first[0] != second[0]:
        return False
    if not (first.isascii() and second.isascii()):  # one more Chinese character is another word
        return False
    return _is_one_edit(first, second, substitution=False)


@cache
def load_vocabulary() -> Vocabulary:
    """Load `terms.toml`.

    Raises:
        ValueError: a phrase has two meanings.
    """
    tables = tomllib.loads(Path(__file__).with_name("terms.toml").read_text(encoding="utf-8"))
    neutral = frozenset(_to_singular(word) for word in tables["neutral"].split()) | frozenset(
        tables["neutral"].split()
    )
    meanings: dict[tuple[str, ...], Term] = {
        (_to_singular(word),): Term(TermKind.RELATION, word) for word in tables["relation"].split()
    }
    for kind in (TermKind.LATERALITY, TermKind.NEGATION, TermKind.REGION, TermKind.SIZE, TermKind.FINDING):
        for name, texts in tables[kind.value].items():
            for text in texts:
                phrase = tuple(_to_singular(token) for token in _TOKEN.findall(text))
                if meanings.setdefault(phrase, Term(kind, name)) != Term(kind, name):
                    raise ValueError(f"terms.toml: {text!r} has two meanings")
    phrases: dict[str, list[tuple[tuple[str, ...], Term]]] = {}
    for phrase, term in sorted(meanings.items(), key=lambda item: -len(item[0])):
        phrases.setdefault(phrase[0], []).append((phrase, term))
    words = neutral | {word for phrase in meanings for word in phrase}
    words_by_letter: dict[str, list[str]] = {}
    for word in sorted(words):
        words_by_letter.setdefault(word[0], []).append(word)
    return Vocabulary(
        phrases=phrases,
        neutral=neutral,
        words_by_letter={letter: tuple(group) for letter, group in words_by_letter.items()},
        known_words=words,
    )


def _tokenise(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'").replace("x-ray", "xray")
    tokens: list[str] = []
    for token in _TOKEN.findall(folded):
        if token.endswith("n't"):
            tokens.append("not")
        elif token in _UNITS_IN_MM and tokens and tokens[-1].startswith("#"):
            tokens[-1] = f"#{float(tokens[-1][1:]) * _UNITS_IN_MM[token]:g}mm"
        elif token[0].isdigit():
            tokens.append(_read_number(token))
        else:
            tokens.append(_correct_word(token))
    return tokens


def _read_number(token: str) -> str:
    try:
        return f"#{float(token.replace(',', '.')):g}"
    except ValueError:
        return token


@lru_cache(maxsize=100_000)
def _correct_word(token: str) -> str:
    """Return the known word of which a token is the plural or a misspelling; otherwise the token."""
    vocabulary = load_vocabulary()
    token = token.replace("oedema", "edema").removesuffix("'s")
    if token in vocabulary.known_words:
        return token
    token = _to_singular(token)
    if token in vocabulary.known_words or len(token) < _MIN_LENGTH_CORRECTED:
        return token
    candidates = [
        word
        for word in vocabulary.words_by_letter.get(token[0], ())
        if len(word) >= _MIN_LENGTH_CORRECTED - 1
        and abs(len(word) - len(token)) <= 1
        and _is_one_edit(token, word, substitution=len(token) >= _MIN_LENGTH_SUBSTITUTED)
    ]
    return candidates[0] if len(candidates) == 1 else token


def _to_singular(word: str) -> str:
    return word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith(_NOT_PLURAL) else word


def _match_term(tokens: Sequence[str], start: int, vocabulary: Vocabulary) -> tuple[Term, int]:
    token = tokens[start]
    for phrase, term in vocabulary.phrases.get(token, ()):
        if tuple(tokens[start : start + len(phrase)]) == phrase:
            return term, len(phrase)
    if token.startswith("#"):
        return Term(TermKind.SIZE, token[1:]), 1
    return Term(TermKind.WORD, token), 1


def _is_order_relevant(known: Sequence[Term]) -> bool:
    distinct_terms = set(known)
    negation_count = sum(term.kind is TermKind.NEGATION for term in known)
    if negation_count > 1 or any(term.kind is TermKind.RELATION for term in known):
        return True
    kinds = [term.kind for term in distinct_terms if term.kind is not TermKind.REGION]
    return len(kinds) != len(set(kinds))


def _list_names(meaning: Meaning, kind: TermKind) -> list[str]:
    return sorted(term.name for term in meaning.terms if term.kind is kind)


def _are_same_words(first: frozenset[str], second: frozenset[str]) -> bool:
    only_first, only_second = sorted(first - second), sorted(second - first)
    return len(only_first) == len(only_second) and all(
        sum(is_misspelling(word, other) for other in only_second) == 1 for word in only_first
    )


def _is_one_edit(first: str, second: str, *, substitution: bool) -> bool:
    """Whether one insertion, deletion, transposition or (if allowed) substitution gives the other."""
    if len(first) > len(second):
        first, second = second, first
    if len(second) - len(first) > 1 or first == second:
        return False
    prefix = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), len(first))
    if len(first) < len(second):
        return first[prefix:] == second[prefix + 1 :]
    if first[prefix + 1 :] == second[prefix + 1 :]:
        return substitution
    return (
        first[prefix : prefix + 2] == second[prefix : prefix + 2][::-1]
        and first[prefix + 2 :] == second[prefix + 2 :]
    )
