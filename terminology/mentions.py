"""Reads which findings a text states, negates or leaves uncertain, sentence by sentence.

The reader errs towards uncertain: only a plain statement counts as present, and only a plain negation as
absent.
"No large effusion" negates nothing, since a small one remains possible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache, reduce
from operator import or_

from terminology.findings import FindingTerm, load_findings
from terminology.word_filter import FilteredPattern, read_word_bits


class Polarity(StrEnum):
    """What a sentence states about a finding. "No large effusion" is a restricted negation."""

    STATED = "stated"
    NEGATED = "negated"
    RESTRICTED = "restricted"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One mention of a finding. ``exact`` is False if the words may mean something else as well."""

    finding: str
    polarity: Polarity
    exact: bool
    sentence: str


_SENTENCE_END = re.compile(r"(?<=[.;])\s+(?!\d+\s*(?:cm|mm))|\n+")
_NUMBERING = re.compile(r"^\s*\d+\s*[.)]\s*")
_NEGATION = FilteredPattern(
    r"\b(?:no|neither|nor|without|negative\s+for|free\s+of|clear\s+of|absence\s+of|absent|"
    r"not\s+(?:see|show|demonstrate|have)\w*)\b"
)
#: Words that end what a negation covers.
_SCOPE_END = re.compile(
    r"\b(?:but|however|although|though|except|other\s+than|apart\s+from|aside\s+from|besides|which|otherwise|while|"
    r"with(?!\s+or\b)|there\s+(?:is|are)|due\s+to|given|despite|since|from\s+the\s+prior)\b|[;:]|"
    r",\s*(?:and\s+)?(?:the\s+)?(?:heart|cardi|lungs?|mediastin|stable|mild|moderate|small|minimal|unchanged|normal|"
    r"visuali[sz]ed|bony|osseous|calcified|old|chronic|scattered|left|right|bilateral|low|degenerative)",
    re.IGNORECASE,
)
#: Between a negation and a finding, these words restrict the negation: a smaller or older one may be there.
_RESTRICTING = re.compile(
    r"\b(?:large|larger|significant\w*|siz[ae]able|gross|overt|frank|definit\w+|typical|displaced|suspicious|new|"
    r"convincing|obvious|worsening|increas\w+|additional|other|further|change|interval|dominant|massive|layering|"
    r"right|left|upper|lower|apical|basilar|bibasilar|basal|perihilar|unilateral|longer|specific|discrete|"
    r"radiopaque|non-?calcified|calcified|tension|active|confluent|lobar|XXXX)\b",
    re.IGNORECASE,
)
_RESTRICTED_PLACE = re.compile(
    r"^(?:\s+\w+){0,3}?\s+(?:on|in|at|within|of|along|near|over|above|below|greater|larger)\s+(?:the\s+|either\s+)?"
    r"(?:right|left|upper|lower|mid\w*|bases?|apex|apices|retrocardiac|hil\w+|than|lateral)\b",
    re.IGNORECASE,
)
_NEGATED_AFTER = FilteredPattern(
    r"^(?:\s+\w+){0,2}\s+(?:is|are|was|were)\s+not\s+(?:\w+\s+)?(?:seen|identified|visuali[sz]ed|evident|"
    r"present|demonstrated|appreciated)\b"
)
_NEGATED_WITHIN = FilteredPattern(r"\b(?:not|no|without)\b")
_DOUBT = FilteredPattern(
    r"\b(?:may|might|could|can|possib\w+|probabl\w+|potential\w*|suggest\w*|question\w*|exclude\w*|versus|vs|likely|"
    r"suspicio\w+|suspect\w*|concern\w*|differential|rule|evaluat\w+|if|consider\w*|equivocal|appearance\s+of|"
    r"resembl\w+|mimic\w*|simulat\w+|favou?r\w*|presum\w+|artifact\w*|borderline|not\s+(?:significantly|definitely)|"
    r"resol\w+|cleared|removed|improv\w+|decreas\w+|histor\w+|previous\w*|prior|interval|"
    r"no\s+longer|post|recommend\w*|"
    r"follow\w*|correlat\w+|minor\s+likelihood|upper\s+limits?|believed|thought|felt|compatible|indicat\w+|"
    r"represent\w*|relate\w*|technique|positional|projection\w*|nipples?)\b|\?"
)
#: Open-i replaced words by XXXX: the hidden one may be a doubt ("XXXX atelectasis").
_HIDDEN_WORD = re.compile(r"XXXX(?:\s+\w+){0,2}\s*$")
_ALTERNATIVE = FilteredPattern(r"^[^.;]{0,30}\b(?:or|and/or)\b|^\s*/")
_ALTERNATIVE_BEFORE = re.compile(r"\b(?:or|and/or)\s+(?:\w+\s+){0,2}$|/\s*$", re.IGNORECASE)


def split_sentences(*texts: str) -> list[str]:
    """Split texts, such as the sections of a report, into sentences without numbering."""
    sentences = []
    for section in texts:
        for part in _SENTENCE_END.split(section):
            sentence = part.strip()
            if sentence[:1].isdigit():
                sentence = _NUMBERING.sub("", sentence).strip()
            if sentence:
                sentences.append(sentence)
    return sentences


def find_mentions(sentence: str, term: FindingTerm) -> Iterator[Mention]:
    """Yield the mentions of a finding in a sentence, with what is stated about each."""
    names = [match.span() for match in term.name.finditer(sentence)]
    mentions = (
        names if term.mention is term.name else [match.span() for match in term.mention.finditer(sentence)]
    )
    for start, end in mentions:
        yield Mention(
            finding=term.id,
            polarity=_judge(sentence, start, end, term),
            exact=_overlaps_any(start, end, names),
            sentence=sentence,
        )
    for start, end in names:
        if not _overlaps_any(start, end, mentions):
            yield Mention(
                finding=term.id, polarity=_judge(sentence, start, end, term), exact=True, sentence=sentence
            )


def _overlaps_any(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(other_start < end and start < other_end for other_start, other_end in spans)


@lru_cache(maxsize=1_000)
def _has_doubt(sentence: str) -> bool:
    return _DOUBT.search(sentence) is not None


def _judge(sentence: str, start: int, end: int, term: FindingTerm) -> Polarity:
    """Return what a sentence states about the finding at a position.

    Whether a pattern can match a part is decided by the words of the whole sentence, which are read once.
    """
    before, after = sentence[:start], sentence[end:]
    is_negated = _NEGATED_WITHIN.may_match(sentence) and _NEGATED_WITHIN.pattern.search(sentence[start:end])
    if is_negated:  # "the mediastinum is not widened"
        return Polarity.RESTRICTED if _has_doubt(sentence) else Polarity.NEGATED
    may_be_negated = _NEGATION.may_match(sentence)
    cue = None
    for match in _NEGATION.pattern.finditer(before) if may_be_negated else ():
        if not _SCOPE_END.search(before[match.end() :]):
            cue = match
    if cue is not None:
        between = before[cue.end() :]
        # A comma ends what an adjective belongs to: "no large effusion, pneumothorax".
        nearest = between.rsplit(",", 1)[-1]
        words = set(re.findall(r"[a-z]+", nearest.casefold()))
        if (
            _RESTRICTING.search(nearest)
            or term.restricted_by & words
            or _RESTRICTED_PLACE.search(after)
            or _has_doubt(sentence)
        ):
            return Polarity.RESTRICTED
        return Polarity.NEGATED
    if _NEGATED_AFTER.may_match(sentence) and _NEGATED_AFTER.pattern.search(after):
        return Polarity.RESTRICTED if _has_doubt(sentence) else Polarity.NEGATED
    may_have_alternative = _ALTERNATIVE.may_match(sentence)
    if (
        _has_doubt(sentence)
        or (may_have_alternative and _ALTERNATIVE.pattern.search(after))
        or (may_have_alternative and _ALTERNATIVE_BEFORE.search(before))
        or ("XX" in before and _HIDDEN_WORD.search(before))
        or (may_be_negated and _NEGATION.pattern.search(before[-40:]))
    ):
        return Polarity.UNCERTAIN
    return Polarity.STATED


@lru_cache(maxsize=20_000)
def read_mentions(text: str) -> tuple[Mention, ...]:
    """Return all mentions of all findings in a text, sentence by sentence. Options and reports recur."""
    return tuple(mention for sentence in split_sentences(text) for mention in _read_sentence(sentence))


@lru_cache(maxsize=20_000)
def _read_sentence(sentence: str) -> tuple[Mention, ...]:
    _list_terms()  # before the words are read, because the first call registers triggers
    return tuple(
        mention
        for term in _select_terms(read_word_bits(sentence) & _read_all_bits())
        for mention in find_mentions(sentence, term)
    )


@lru_cache(maxsize=20_000)
def _select_terms(bits: int) -> tuple[FindingTerm, ...]:
    """Return the findings that a sentence with these bits can mention; many sentences have the same."""
    return tuple(term for term, term_bits in _list_terms() if bits & term_bits)


@cache
def _read_all_bits() -> int:
    return reduce(or_, (bits for _, bits in _list_terms()))


@cache
def _list_terms() -> tuple[tuple[FindingTerm, int], ...]:
    """Return the findings with the bits of which the words of a sentence have one if it mentions them."""
    return tuple(
        (term, FilteredPattern(term.mention.pattern, term.name.pattern).word_bits)
        for term in load_findings().values()
    )
