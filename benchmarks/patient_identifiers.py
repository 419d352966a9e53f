"""Measures how many identifiers planted in questions the check for patient data detects, by kind.

The identifiers are made from lists and a seed, not from the patterns, and include forms that the patterns do
not cover: names without a title, dates in words. Run: python -m benchmarks.patient_identifiers
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from measures.proportions import wilson
from privacy.patterns import find_hits_by_pattern

_FIRST = ("Anna", "Bela", "Chidi", "Dolores", "Emeka", "Fiona", "Giulia", "Hiroshi", "Ingrid", "Jean-Luc")
_LAST = (
    "Okafor",
    "Müller",
    "O'Brien",
    "van Dijk",
    "Nguyen",
    "Smith",
    "Kowalska",
    "Ferreira",
    "Tan",
    "Haddad",
)
_MONTHS = ("January", "February", "March", "May", "July", "September", "October", "December")
_TOWNS = ("Springfield, IL 62704", "Boston, MA 02115", "Bath BA1 2FJ", "Leeds")
_STREETS = ("12 Elm Street", "4 Station Road", "221B Baker Street", "7 rue de Lille", "Hauptstrasse 5")
#: Sentences with a blank for the identifier, as generated questions might repeat it from a report.
_SENTENCES = (
    "Which finding is new since {}?", "The radiograph of {} shows an opacity.", "What was reported to {}?",
    "Compared with {}, is the effusion larger?", "According to {}, where is the nodule?",
)  # fmt: skip
#: By kind of identifier and form: a function that makes one identifier.
_FORMS: Mapping[tuple[str, str], Callable[[random.Random], str]] = {
    ("name", "title"): lambda rng: f"{rng.choice(('Dr.', 'Mrs', 'Mr.'))} {rng.choice(_LAST)}",
    ("name", "first and last"): lambda rng: f"{rng.choice(_FIRST)} {rng.choice(_LAST)}",
    ("name", "last, first"): lambda rng: f"{rng.choice(_LAST)}, {rng.choice(_FIRST)}",
    ("date", "numbers"): lambda rng: f"{rng.randint(1, 12)}/{rng.randint(1, 28)}/{rng.randint(2001, 2024)}",
    ("date", "ISO"): lambda rng: f"{rng.randint(2001, 2024)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
    ("date", "month name"): lambda rng: (
        f"{rng.choice(_MONTHS)} {rng.randint(1, 28)}, {rng.randint(2001, 2024)}"
    ),
    ("date", "weekday"): lambda rng: f"last {rng.choice(('Monday', 'Friday', 'Sunday'))}",
    ("phone number", "US"): lambda rng: f"({rng.randint(201, 989)}) 555-{rng.randint(1000, 9999)}",
    ("phone number", "international"): lambda rng: (
        f"+44 20 {rng.randint(7000, 7999)} {rng.randint(1000, 9999)}"
    ),
    ("record number", "MRN"): lambda rng: f"MRN {rng.randint(10**6, 10**8)}",
    ("record number", "digits"): lambda rng: f"patient {rng.randint(10**6, 10**9)}",
    ("record number", "letters and digits"): lambda rng: f"accession CXR{rng.randint(10**5, 10**7)}",
    ("address", "street"): lambda rng: rng.choice(_STREETS),
    ("address", "town"): lambda rng: rng.choice(_TOWNS),
    ("e-mail or web address", "e-mail"): lambda rng: (
        f"{rng.choice(_FIRST).lower()}@hospital{rng.randint(1, 99)}.org"
    ),
    ("e-mail or web address", "web"): lambda rng: f"https://pacs.example/{rng.randint(1, 9999)}",
    ("social security number", "hyphens"): lambda rng: (
        f"{rng.randint(100, 772)}-{rng.randint(10, 99)}-{rng.randint(1000, 9999)}"
    ),
    ("age above 89", "digits"): lambda rng: f"the {rng.randint(90, 104)}-year-old man",
}


def measure_recall(*, per_form: int, seed: int) -> dict[tuple[str, str], tuple[int, int]]:
    """Return (detected, planted) by kind and form. A passage counts if a hit overlaps the identifier."""
    rng = random.Random(seed)
    recall = {}
    for kind_and_form, make in _FORMS.items():
        detected = 0
        for _ in range(per_form):
            identifier, sentence = make(rng), rng.choice(_SENTENCES)
            text, start = sentence.format(identifier), sentence.index("{}")
            detected += any(
                hit.start < start + len(identifier) and hit.end > start
                for hit in find_hits_by_pattern(text, field="stem")
            )
        recall[kind_and_form] = (detected, per_form)
    return recall


def main() -> None:
    """Print the recall of each form and of all."""
    recall = measure_recall(per_form=200, seed=2026)
    for (kind, form), (detected, planted) in recall.items():
        share = wilson(detected, planted)
        print(f"{kind:<24}{form:<22}{detected:>4} of {planted}  {share.low:.2f} to {share.high:.2f}")
    detected, planted = (sum(counts) for counts in zip(*recall.values(), strict=True))
    print(f"{'all':<46}{detected:>4} of {planted}  {detected / planted:.3f}")


if __name__ == "__main__":
    main()
