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
from functools import cache, lru_cache

from terminology.findings import FindingTerm, load_findings


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
_NEGATION = re.compile(
    r"\b(?:no|neither|nor|without|negative\s+for|free\s+of|clear\s+of|absence\s+of|absent|"
    r"not\s+(?:see|show|demonstrate|have)\w*)\b",
    re.IGNORECASE,
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
_NEGATED_AFTER = re.compile(
    r"^(?:\s+\w+){0,2}\s+(?:is|are|was|were)\s+not\s+(?:\w+\s+)?(?:seen|identified|visuali[sz]ed|evident|present|"
    r"demonstrated|appreciated)\b",
    re.IGNORECASE,
)
_NEGATED_WITHIN = re.compile(r"\b(?:not|no|without)\b", re.IGNORECASE)
_DOUBT = re.compile(
    r"\b(?:may|might|could|can|possib\w+|probabl\w+|potential\w*|suggest\w*|question\w*|exclude\w*|versus|vs|likely|"
    r"suspicio\w+|suspect\w*|concern\w*|differential|rule|evaluat\w+|if|consider\w*|equivocal|appearance\s+of|"
    r"resembl\w+|mimic\w*|simulat\w+|favou?r\w*|presum\w+|artifact\w*|borderline|not\s+(?:significantly|definitely)|"
    r"resol\w+|cleared|removed|improv\w+|decreas\w+|histor\w+|previous\w*|prior|interval|"
    r"no\s+longer|post|recommend\w*|"
    r"follow\w*|correlat\w+|minor\s+likelihood|upper\s+limits?|believed|thought|felt|compatible|indicat\w+|"
    r"represent\w*|relate\w*|technique|positional|projection\w*)\b|\?",
    re.IGNORECASE,
)
#: Open-i replaced words by XXXX: the hidden one may be a doubt ("XXXX atelectasis").
_HIDDEN_WORD = re.compile(r"XXXX(?:\s+\w+){0,2}\s*$")
_ALTERNATIVE = re.compile(r"^[^.;]{0,30}\b(?:or|and/or)\b|^\s*/", re.IGNORECASE)
_ALTERNATIVE_BEFORE = re.compile(r"\b(?:or|and/or)\s+(?:\w+\s+){0,2}$|/\s*$", re.IGNORECASE)


def split_sentences(*texts: str) -> list[str]:
    """Split texts, such as the sections of a report, into sentences without numbering."""
    sentences = []
    for section in texts:
        for part in _SENTENCE_END.split(section):
            sentence = _NUMBERING.sub("", part).strip()
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
    before, after = sentence[:start], sentence[end:]
    if _NEGATED_WITHIN.search(sentence[start:end]):  # "the mediastinum is not widened"
        return Polarity.RESTRICTED if _has_doubt(sentence) else Polarity.NEGATED
    cue = None
    for match in _NEGATION.finditer(before):
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
    if _NEGATED_AFTER.search(after):
        return Polarity.RESTRICTED if _has_doubt(sentence) else Polarity.NEGATED
    if (
        _has_doubt(sentence)
        or _ALTERNATIVE.search(after)
        or _ALTERNATIVE_BEFORE.search(before)
        or _HIDDEN_WORD.search(before)
        or _NEGATION.search(before[-40:])
    ):
        return Polarity.UNCERTAIN
    return Polarity.STATED


@lru_cache(maxsize=20_000)
def read_mentions(text: str) -> tuple[Mention, ...]:
    """Return all mentions of all findings in a text, sentence by sentence. Options and reports recur."""
    return tuple(mention for sentence in split_sentences(text) for mention in _read_sentence(sentence))


@lru_cache(maxsize=20_000)
def _read_sentence(sentence: str) -> tuple[Mention, ...]:
    terms, terms_by_trigger, always = _index_triggers()
    folded = sentence.casefold()
    # Each trigger is searched once, because most sentences have few of them.
    candidates = set(always)
    for trigger, indices in terms_by_trigger:
        if trigger in folded:
            candidates.update(indices)
    return tuple(mention for index in sorted(candidates) for mention in find_mentions(sentence, terms[index]))


@cache
def _index_triggers() -> tuple[list[FindingTerm], list[tuple[str, list[int]]], list[int]]:
    """Return the findings, the indices of findings by trigger, and the indices of those without triggers."""
    terms = list(load_findings().values())
    by_trigger: dict[str, list[int]] = {}
    for index, term in enumerate(terms):
        for trigger in term.triggers:
            by_trigger.setdefault(trigger, []).append(index)
    return terms, list(by_trigger.items()), [index for index, term in enumerate(terms) if not term.triggers]
