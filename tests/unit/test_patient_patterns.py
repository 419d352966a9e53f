"""Patterns of patient data in texts: what is detected, and what is not."""

from __future__ import annotations

import re
from functools import reduce
from operator import or_

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.patient_data import HitKind
from privacy.patterns import RULES, _find_rules, find_hits_by_pattern, may_have_hits
from terminology.word_filter import read_word_bits


def list_hits(text: str) -> list[tuple[HitKind, str]]:
    hits = find_hits_by_pattern(text, field="report")
    return [(hit.kind, text[hit.start : hit.end]) for hit in sorted(hits, key=lambda hit: hit.start)]


@pytest.mark.parametrize(
    ("text", "passage"),
    [
        ("Compared with 2019-03-14 there is", "2019-03-14"), ("Seen on 3/14/2019.", "3/14/2019"),
        ("Film of 14.03.2019", "14.03.2019"), ("on 14 March 2019 and", "14 March 2019"),
        ("dated March 3, 2019", "March 3, 2019"), ("since Mar 2018", "Mar 2018"),
        ("on 03/14/19 at", "03/14/19"),
        ("on March 3rd there", "March 3rd"), ("image 20190314 shows", "20190314"),
        ("14-Mar-2019", "14-Mar-2019"),
        ("exam of 2nd of May 2011.", "2nd of May 2011"), ("ON MAY 12, 2019 THE", "MAY 12, 2019"),
    ],
)  # fmt: skip
def test_dates_are_found(text, passage):
    assert list_hits(text) == [(HitKind.DATE, passage)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("call 617-555-0123 for", HitKind.PHONE), ("(617) 555-0123", HitKind.PHONE),
        ("+49 30 1234 5678", HitKind.PHONE), ("pager 41234", HitKind.PHONE),
        ("+33 1 23 45 67 88", HitKind.PHONE), ("of 5 Oak Parkway", HitKind.ADDRESS),
        ("MRN: 4481923", HitKind.RECORD_NUMBER), ("accession number A-77812", HitKind.RECORD_NUMBER),
        ("patient 44819237 has", HitKind.RECORD_NUMBER), ("exam CXR20193344 of", HitKind.RECORD_NUMBER),
        ("123-45-6789", HitKind.NATIONAL_NUMBER),
        ("Discussed with Dr. Smith by phone", HitKind.PERSON), ("Mrs Ann O'Neill was", HitKind.PERSON),
        ("Findings were communicated to John Miller at", HitKind.PERSON),
        ("Patient name: Smith, John", HitKind.PERSON), ("Read by A. by Jane Doe, MD", HitKind.PERSON),
        ("write to ann@clinic.example", HitKind.EMAIL), ("see https://pacs.example/1", HitKind.URL),
        ("of 12 Long Meadow Road", HitKind.ADDRESS), ("Boston, MA 02115", HitKind.ADDRESS),
        ("A 93-year-old man", HitKind.AGE),
    ],
)  # fmt: skip
def test_identifying_passages_are_found(text, kind):
    assert [hit_kind for hit_kind, _ in list_hits(text)] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "Compared to ___, there is", "Dr. ___ was informed at ___.", "compression of T12 and L1-L2",
        "a nodule of 2.5 cm", "5/6 ribs", "fractures of ribs 8/9/10", "the 8/9/10 ribs", "T4/5/6", "T4/T5",
        "1.2 x 3.4 x 5.6 cm", "12-15 mm", "The opacity may represent 2 nodules", "May 2 nodules be",
        "A 58-year-old woman", "in 2015", "ratio of 0.55", "at 3-4-5 o'clock", "C3-C4-C5", "grade 3/4",
        "6 x 10 mm at the 10/12 level", "SpO2 92%", "Swan-Ganz catheter", "Kerley B lines", "Port-A-Cath",
        "Discussed with Emergency Department", "Heart Rate 100, BP 120/80", "Dr notified", "WBC 100000",
        "1,234,567 platelets", "pH 7.35-7.45", "Impression: Right Lower Lobe pneumonia.", "The 2 of 3 leads",
        "A: PA view B: AP view", "Marching patterns in March", "8-12-16 French", "page 2 of 3", "97 mm",
    ],
)  # fmt: skip
def test_anatomy_sizes_and_blanks_are_not_reported(text):
    assert list_hits(text) == []


#: Texts with and without hits, so that each joined text has several neighbours.
_TEXTS = st.sampled_from([
    "Dr.", "Smith", "ribs", "8/9/10", "ribs 8/9/10", "3/14/2019", "12", "Long Meadow Road", "617-555-0123",
    "tel", "No", "May", "MRN:", "4481923", "Jane Doe", "MD", "discussed with", "effusion", "by Jane Doe, MD",
])  # fmt: skip


@given(st.lists(_TEXTS, max_size=6))
def test_texts_may_have_hits_if_and_only_if_one_of_them_has_a_hit(texts):
    word_bits = reduce(or_, map(read_word_bits, texts), 0)
    assert may_have_hits(texts, word_bits=word_bits) == any(list_hits(text) for text in texts)


@pytest.mark.full
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.kind.name} {RULES.index(rule)}")
def test_what_a_rule_matches_passes_its_filters(rule):
    @settings(max_examples=10, deadline=None, database=None)
    @given(st.from_regex(rule.filtered.pattern))
    def check(text):
        passage = rule.filtered.pattern.search(text)[0]
        assert rule in _find_rules(text, read_word_bits(text))
        assert max(map(len, re.findall(r"\d+", passage)), default=0) >= rule.digits

    check()
