"""Reads which findings a text states, negates or leaves uncertain, sentence by sentence.

In doubt, a finding is uncertain: only a plain statement counts as present, and only a plain negation as
absent. "No large effusion" negates nothing, since a small one remains possible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache, reduce
from operator import or_

from terminology.findings import FindingTerm, load_findings
from terminology.word_filter import ALL_BITS, FilteredPattern, compile_folded, fold, read_word_bits


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


# Begins with \s, which is found faster than the mark before it.
_SENTENCE_END = re.compile(r"\s(?:(?<=[.;]\s)\s*(?!\d+\s*(?:cm|mm))|(?<=\n)\n*)")
_NUMBERING = re.compile(r"^\s*\d+\s*[.)]\s*")
# Patterns begin with (?<!\w) where \b means the same, because it is searched faster.
_NEGATION = FilteredPattern(
    r"(?<!\w)(?:no|neither|nor|without|negative\s+for|free\s+of|clear\s+of|absence\s+of|absent|"
    r"not\s+(?:see|show|demonstrate|have)\w*)\b|(?<!\w)not\s+$"  # "the lungs are not" hyperinflated
)
#: Words that end the scope of a negation.
_SCOPE_END = compile_folded(
    r"(?<!\w)(?:but|however|although|though|except|other\s+than|apart\s+from|aside\s+from|besides|which|otherwise|while|"
    r"with(?!\s+or\b)|there\s+(?:is|are)|due\s+to|given|despite|since|from\s+the\s+prior)\b|[;:]|"
    r",\s*(?:and\s+)?(?:the\s+)?(?:heart|cardi|lungs?|mediastin|stable|mild|moderate|small|minimal|unchanged|normal|"
    r"visuali[sz]ed|bony|osseous|calcified|old|chronic|scattered|left|right|bilateral|low|degenerative)"
)
#: Between a negation and a finding, these words restrict the negation: a smaller or older finding is
#: possible.
_RESTRICTING = compile_folded(
    r"(?<!\w)(?:large|larger|significant\w*|siz[ae]able|gross|overt|frank|definit\w+|typical|displaced|suspicious|new|"
    r"convincing|obvious|worsening|increas\w+|additional|other|further|change|interval|dominant|massive|layering|"
    r"right|left|upper|lower|apical|basilar|bibasilar|basal|perihilar|unilateral|longer|specific|discrete|"
    r"radiopaque|non-?calcified|calcified|tension|active|confluent|lobar|XXXX)\b"
)
_RESTRICTED_PLACE = compile_folded(
    r"^(?:\s+\w+){0,3}?\s+(?:on|in|at|within|of|along|near|over|above|below|greater|larger)\s+(?:the\s+|either\s+)?"
    r"(?:right|left|upper|lower|mid\w*|bases?|apex|apices|retrocardiac|hil\w+|than|lateral)\b"
)
_NEGATED_AFTER = FilteredPattern(
    r"^(?:\s+\w+){0,2}\s+(?:is|are|was|were)\s+not\s+(?:\w+\s+)?(?:seen|identified|visuali[sz]ed|evident|"
    r"present|demonstrated|appreciated)\b"
)
_NEGATED_WITHIN = FilteredPattern(r"(?<!\w)(?:not|no|without)\b")
_DOUBT = FilteredPattern(
    r"(?<!\w)(?:may|might|could|can|possib\w+|probabl\w+|potential\w*|suggest\w*|question\w*|exclude\w*|versus|vs|likely|"
    r"suspicio\w+|suspect\w*|concern\w*|differential|rule|evaluat\w+|if|consider\w*|equivocal|appearance\s+of|"
    r"resembl\w+|mimic\w*|simulat\w+|favou?r\w*|presum\w+|artifact\w*|borderline|not\s+(?:significantly|definitely)|"
    r"resol\w+|cleared|removed|improv\w+|decreas\w+|histor\w+|previous\w*|prior|interval|"
    r"no\s+longer|post|recommend\w*|"
    r"follow\w*|correlat\w+|minor\s+likelihood|upper\s+limits?|believed|thought|felt|compatible|indicat\w+|"
    r"represent\w*|relate\w*|technique|positional|projection\w*|nipples?)\b|\?"
)
#: Open-i replaced words by XXXX; the hidden word may express doubt ("XXXX atelectasis").
_HIDDEN_WORD = re.compile(r"XXXX(?:\s+\w+){0,2}\s*$")
_ALTERNATIVE = FilteredPattern(r"^[^.;]{0,30}\b(?:or|and/or)\b|^\s*/")
_ALTERNATIVE_BEFORE = compile_folded(r"(?<!\w)(?:or|and/or)\s+(?:\w+\s+){0,2}$|/\s*$")
_LETTERS = re.compile(r"[a-z]+")
#: A sentence without these words and marks states each finding that it names.
_CUES = (_NEGATION, _NEGATED_WITHIN, _NEGATED_AFTER, _DOUBT, _ALTERNATIVE)
_CUE_BITS = reduce(or_, (cue.bits for cue in _CUES))
_CUE_MARKS = re.compile("|".join(sorted(re.escape(mark) for cue in _CUES for mark in cue.characters)) + "|XX")


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
    folded = fold(sentence)
    names = _find_spans(term.name.pattern, folded)
    mentions = names if term.mention is term.name else _find_spans(term.mention.pattern, folded)
    for start, end in mentions:
        yield Mention(
            finding=term.id,
            polarity=_read_polarity(sentence, start, end, term),
            exact=mentions is names or _overlaps_any(start, end, names),
            sentence=sentence,
        )
    for start, end in names if mentions is not names else ():
        if not _overlaps_any(start, end, mentions):
            yield Mention(
                finding=term.id,
                polarity=_read_polarity(sentence, start, end, term),
                exact=True,
                sentence=sentence,
            )


def _find_spans(pattern: str, folded: str) -> list[tuple[int, int]]:
    return [match.span() for match in _compile_term(pattern).finditer(folded)]


@cache
def _compile_term(pattern: str) -> re.Pattern[str]:
    return compile_folded(pattern)


def _overlaps_any(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(other_start < end and start < other_end for other_start, other_end in spans)


@lru_cache(maxsize=1_000)
def _has_doubt(sentence: str) -> bool:
    return _DOUBT.search(sentence) is not None


def _read_polarity(sentence: str, start: int, end: int, term: FindingTerm) -> Polarity:
    """Return what a sentence states about the finding at a position.

    Whether a pattern can match a part is decided by the words of the whole sentence, which are read once.
    """
    bits = read_word_bits(sentence)
    if not bits & _CUE_BITS and not _CUE_MARKS.search(sentence):
        return Polarity.STATED
    folded = fold(sentence)
    before, after = folded[:start], folded[end:]
    is_negated = bits & _NEGATED_WITHIN.word_bits and _NEGATED_WITHIN.folded.search(folded[start:end])
    if is_negated:  # "the mediastinum is not widened"
        return Polarity.RESTRICTED if _has_doubt(sentence) else Polarity.NEGATED
    may_be_negated = bits & _NEGATION.word_bits
    cue = None
    for match in _NEGATION.folded.finditer(before) if may_be_negated else ():
        if not _SCOPE_END.search(before[match.end() :]):
            cue = match
    if cue is not None:
        between = before[cue.end() :]
        # An adjective applies only up to the next comma: "no large effusion, pneumothorax".
        nearest = between.rsplit(",", 1)[-1]
        if (
            _RESTRICTING.search(nearest)
            or (term.restricted_by and not term.restricted_by.isdisjoint(_LETTERS.findall(nearest)))
            or _RESTRICTED_PLACE.search(after)
            or _has_doubt(sentence)
        ):
            return Polarity.RESTRICTED
        return Polarity.NEGATED
    if bits & _NEGATED_AFTER.word_bits and _NEGATED_AFTER.folded.search(after):
        return Polarity.RESTRICTED if _has_doubt(sentence) else Polarity.NEGATED
    may_have_alternative = _ALTERNATIVE.may_match(sentence)
    if (
        _has_doubt(sentence)
        or (may_have_alternative and _ALTERNATIVE.folded.search(after))
        or (may_have_alternative and _ALTERNATIVE_BEFORE.search(before))
        or ("XX" in sentence and _HIDDEN_WORD.search(sentence[:start]))
        or (may_be_negated and _NEGATION.folded.search(before[-40:]))
    ):
        return Polarity.UNCERTAIN
    return Polarity.STATED


@dataclass(frozen=True, slots=True)
class TermGroup:
    """Findings that are searched together, each with the bits of its words, and the bits of all words."""

    terms: tuple[tuple[FindingTerm, int], ...]
    bits: int


@lru_cache(maxsize=10_000)
def group_terms(findings: frozenset[str]) -> TermGroup:
    """Return the group of these findings, by their ids, in the order of `findings.toml`."""
    terms = tuple((term, bits) for term, bits in _list_terms() if term.id in findings)
    return TermGroup(terms, reduce(or_, (bits for _, bits in terms), 0))


class _Sentence:
    """A sentence with the bits of its words. Each finding is searched on first use, and only once."""

    __slots__ = ("_mentions", "bits", "text")

    def __init__(self, text: str) -> None:
        self.text, self.bits = text, read_word_bits(text)
        self._mentions: dict[str, tuple[Mention, ...]] = {}

    def find(self, term: FindingTerm) -> tuple[Mention, ...]:
        mentions = self._mentions.get(term.id)
        if mentions is None:
            mentions = self._mentions[term.id] = tuple(find_mentions(self.text, term))
        return mentions


class TextMentions:
    """The mentions of findings in a text. Findings are searched on first use."""

    def __init__(self, text: str) -> None:
        _list_terms()  # before the words are read, because the first call registers triggers
        self._sentences = tuple(map(_read_sentence, split_sentences(text)))

    def find(self, group: TermGroup, *, word_bits: int = ALL_BITS) -> Iterator[Mention]:
        """Yield the mentions of findings of a group, sentence by sentence.

        Args:
            group: the findings.
            word_bits: only sentences with words of these bits are read.
        """
        for sentence in self._sentences:
            if sentence.bits & group.bits and sentence.bits & word_bits:
                for term, bits in group.terms:
                    if sentence.bits & bits:
                        yield from sentence.find(term)

    def find_all(self) -> Iterator[Mention]:
        """Yield the mentions of all findings, sentence by sentence."""
        for sentence in self._sentences:
            for term in _select_terms(sentence.bits & _compute_all_bits()):
                yield from sentence.find(term)


@lru_cache(maxsize=20_000)
def _read_sentence(sentence: str) -> _Sentence:
    return _Sentence(sentence)


@lru_cache(maxsize=1_000)
def read_text(text: str) -> TextMentions:
    """Return the mentions in a text, such as a report, which several questions refer to."""
    return TextMentions(text)


@lru_cache(maxsize=20_000)
def read_mentions(text: str) -> tuple[Mention, ...]:
    """Return all mentions of all findings in a text, sentence by sentence. Cached, because options recur."""
    return tuple(TextMentions(text).find_all()) if may_mention_finding(text) else ()


def may_mention_finding(text: str) -> bool:
    """Whether a text has a word of some finding; a fast test before the text is read."""
    return bool(_compute_all_bits() & read_word_bits(text))


@lru_cache(maxsize=20_000)
def _select_terms(bits: int) -> tuple[FindingTerm, ...]:
    """Return the findings that a sentence with these bits can mention; cached, since many have the same."""
    return tuple(term for term, term_bits in _list_terms() if bits & term_bits)


@cache
def _compute_all_bits() -> int:
    return reduce(or_, (bits for _, bits in _list_terms()))


@cache
def _list_terms() -> tuple[tuple[FindingTerm, int], ...]:
    """Return each finding with its bits, of which a sentence that mentions the finding has at least one."""
    return tuple(
        (term, FilteredPattern(term.mention.pattern, term.name.pattern).word_bits)
        for term in load_findings().values()
    )
