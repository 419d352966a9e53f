"""Filtered patterns: a pattern is skipped only in texts that it cannot match."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quality import content_screens, structural_checks, text_screens
from terminology import mentions, sides
from terminology.findings import load_findings
from terminology.word_filter import FilteredPattern, find_triggers, read_word_bits


def list_patterns():
    """All filtered patterns of the checks, each with a name."""
    for module in (content_screens, mentions, sides, structural_checks):
        for name, value in vars(module).items():
            if isinstance(value, FilteredPattern):
                yield f"{module.__name__}.{name}", value
    for screen, (pattern, _) in text_screens._PATTERNS.items():
        yield screen.value, pattern
    for term in load_findings().values():
        yield term.id, FilteredPattern(term.mention.pattern, term.name.pattern)


PATTERNS = dict(list_patterns())
#: Parts of texts of radiology, so that random texts match some patterns.
_WORDS = """
no not without left right lower BASE pleural effusion is are the of compared prior unchanged may or and/or
kerley granulomas; XXXX 1. 12) ? / - enlarged heart (no effusion) isn't edema \u00f6dem
\u017fide \u212a answer: A
"""
_PARTS = st.sampled_from(_WORDS.split())


@pytest.mark.full
@pytest.mark.parametrize("name", PATTERNS)
def test_each_match_of_a_pattern_passes_its_filter(name):
    filtered = PATTERNS[name]

    @settings(max_examples=5, deadline=None, database=None)
    @given(st.from_regex(filtered.pattern))
    def check(text):
        assert filtered.pattern.search(text)
        assert filtered.may_match(text)

    check()


@settings(max_examples=20, deadline=None, database=None)
@given(st.lists(_PARTS, max_size=12).map(" ".join))
def test_a_search_finds_what_the_pattern_finds(text):
    for name, filtered in PATTERNS.items():
        match, expected_match = filtered.search(text), filtered.pattern.search(text)
        assert (match and match.span()) == (expected_match and expected_match.span()), name


@settings(max_examples=20, deadline=None, database=None)
@given(st.lists(_PARTS, max_size=14).map(" ".join))
def test_the_fast_reading_gives_the_mentions_of_a_loop_over_sentences_and_findings(text):
    expected = [
        mention
        for sentence in mentions.split_sentences(text)
        for term in load_findings().values()
        for mention in mentions.find_mentions(sentence, term)
    ]
    assert list(mentions.read_mentions(text)) == expected


#: Words that name a place, words that change the place of another word, and longer words that contain them.
_PLACE_WORDS = """
left right LEFT right-sided sided bilaterally unbilateral both bibasal biapical mid mid-to-lower upper apex
lower base lung zone heart hearts main arch answer shifted to from the all arm aright left2 2left _left left_
\u00e9left left's \u017fide
"""


@settings(max_examples=200, deadline=None, database=None)
@given(
    st.lists(st.sampled_from(_PLACE_WORDS.split()), max_size=7), st.sampled_from([" ", "-", ", ", "", "\n"])
)
def test_reading_by_words_gives_the_same_place_as_the_pattern(words, between):
    text = between.join(words)
    assert sides.read_place(text) == sides._read_place_by_pattern(text)


@pytest.mark.parametrize(
    ("pattern", "triggers"),
    [
        (r"o?edema|kerley", {"edema", "kerley"}),
        (r"granulomas?\b", {"granuloma"}),
        (r"(?:low|small)(?:er)?\s+(?:lung )?volumes?", {"volume"}),
        (r"^\s*/|\bor\b", {"/", " or "}),
        (r"a{0,3}|b", set()),
        (r"(?:x|yz)+\d", {"x", "yz"}),
    ],
)
def test_every_match_contains_one_of_the_triggers(pattern, triggers):
    assert find_triggers(pattern) == triggers


def test_a_non_ascii_letter_that_matches_an_ascii_letter_ignoring_case_is_found():
    assert re.search("side", "\u017fide", re.IGNORECASE)
    assert FilteredPattern("side").search("\u017fide")
    assert read_word_bits("\u017fide") == -1  # all bits


@pytest.mark.parametrize("text", ["no\u2013effusion", "No5", "_no_", "say no.", "K\u00f6hler/no"])
def test_the_filter_passes_a_whole_word_beside_any_character(text):
    filtered = FilteredPattern(r"\b(?:no|never)\b")
    assert filtered.may_match(text)
    assert bool(filtered.search(text)) == bool(filtered.pattern.search(text))


def test_a_longer_word_does_not_pass_the_filter_of_a_whole_word():
    assert not FilteredPattern(r"\b(?:no|never)\b").may_match("a small nodule is noted")


def test_a_pattern_without_triggers_is_searched_even_in_texts_without_words():
    assert FilteredPattern(r"\(\d{3}\) \d{3}").search("(617) 555")
