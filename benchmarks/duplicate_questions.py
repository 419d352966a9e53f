"""Questions with planted duplicates and twins, for the search of near-duplicates.

The findings and their names come from the question templates (`terminology/findings.toml`), the
sentences around them from this module. Each exam has questions on different findings. Some of them have a
duplicate (exact, edited or paraphrased), a contradiction, or a twin, which differs only in side, negation,
size, region or finding.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from domain.duplicates import ComparedQuestion
from domain.questions import Answer
from domain.vocabulary import AnswerFormat
from terminology.findings import load_findings

DUPLICATES = ("exact", "edited", "paraphrased")
TWINS = ("laterality", "negation", "size", "region", "finding")
KINDS = (*DUPLICATES, *TWINS, "contradiction")
#: The share of base questions that have a companion (one of KINDS); the kinds are drawn evenly.
COMPANION_SHARE = 0.36


@dataclass(frozen=True, kw_only=True)
class Sentences:
    """Sentences of base questions, and others with the same meaning."""

    base: tuple[str, ...]
    paraphrases: tuple[str, ...]


#: The sentences with which the rules were developed.
TUNING = Sentences(
    base=("Is {a_finding} seen {place}?", "Are there signs of {a_finding} {place}?"),
    paraphrases=("Is {a_finding} visible {place}?", "{Place}, can you find {a_finding}?"),
)
#: The sentences with which the rules are measured.
TEST = Sentences(
    base=(
        "Is there {a_finding} {place}?",
        "Does the radiograph show {a_finding} {place}?",
        "Is {a_finding} present {place}?",
    ),
    paraphrases=(
        "Can {a_finding} be identified {place}?",
        "Do you see any evidence of {a_finding} {place}?",
        "{Place}, does this chest X-ray demonstrate {a_finding}?",
        "Does this patient have {a_finding} {place}?",
    ),
)
_SIDES = ("left", "right")
_REGIONS = ("upper", "mid", "lower")
_SIZE_WORDS = ("small", "moderate", "large")


@dataclass(frozen=True, kw_only=True)
class _Facts:
    """What a question asks. Two questions are the same if their facts and keys are equal."""

    finding: str
    side: str
    region: str
    size: str
    negated: bool
    kind: str


@dataclass(frozen=True, kw_only=True)
class Planted:
    """The numbers of two questions of one exam, and how the second was made from the first."""

    first: int
    second: int
    kind: str


class QuestionSource:
    """Yields questions by exam, and records what was planted.

    Args:
        questions: the approximate number of questions.
        seed: determines everything.
        sentences: the sentences around the findings.
    """

    def __init__(self, questions: int, *, seed: int, sentences: Sentences = TEST) -> None:
        self._sentences = sentences
        self._question_count, self._rng = questions, random.Random(seed)
        self._terms = [term for term in load_findings().values() if not term.plural]
        self.planted: list[Planted] = []

    def __iter__(self) -> Iterator[ComparedQuestion]:
        number = exam = 0
        while number < self._question_count:
            exam += 1
            finding_indices = self._rng.sample(range(len(self._terms)), 4)
            spare_index = finding_indices.pop()
            for finding_index in finding_indices:
                number += 1
                facts = self._draw_facts(finding_index)
                base = self._write_question(number, exam, facts, self._sentences.base)
                yield base
                if self._rng.random() < COMPANION_SHARE:
                    number += 1
                    kind = self._rng.choice(KINDS)
                    yield self._make_companion(number, base, facts, kind, spare_index)
                    self.planted.append(Planted(first=base.number, second=number, kind=kind))

    def _draw_facts(self, finding_index: int) -> _Facts:
        rng = self._rng
        return _Facts(
            finding=str(finding_index),
            side=rng.choice(_SIDES),
            region=rng.choice(_REGIONS),
            size=f"{rng.randint(3, 60)} mm" if rng.random() < 0.5 else rng.choice(_SIZE_WORDS),
            negated=False,
            kind=rng.choice(("closed", "single", "open")),
        )

    def _write_question(
        self,
        number: int,
        exam: int,
        facts: _Facts,
        sentences: tuple[str, ...],
        sentence_index: int | None = None,
    ) -> ComparedQuestion:
        term = self._terms[int(facts.finding)]
        place = f"in the {facts.region} zone on the {facts.side} side"
        index = number % len(sentences) if sentence_index is None else sentence_index
        sized = f"{facts.size} {term.noun}"
        article = "no" if facts.negated else ("an" if sized[0] in "aeiou8" else "a")
        stem = sentences[index].format(a_finding=f"{article} {sized}", place=place, Place=place.capitalize())
        common = {
            "number": number,
            "exam": exam,
            "explanation_length": 40,
            "group": ("presence", term.category),
        }
        if facts.kind == "closed":
            return ComparedQuestion(format=AnswerFormat.CLOSED, stem=stem, answer="yes", **common)  # type: ignore[arg-type] # one dictionary for three formats
        if facts.kind == "open":
            return ComparedQuestion(format=AnswerFormat.OPEN, stem=stem, answer=f"Yes, {sized}", **common)  # type: ignore[arg-type] # as above
        options = ("Definitely seen", "Probably seen", "Probably missing", "Definitely missing")
        return ComparedQuestion(format=AnswerFormat.SINGLE, stem=stem, options=options, answer=(0,), **common)  # type: ignore[arg-type] # as above

    def _make_companion(
        self, number: int, base: ComparedQuestion, facts: _Facts, kind: str, spare_index: int
    ) -> ComparedQuestion:
        rng, exam = self._rng, base.exam
        sentence_index = base.number % len(self._sentences.base)
        match kind:
            case "exact":
                return replace(base, number=number)
            case "edited":
                return self._edit_question(replace(base, number=number))
            case "paraphrased":
                return self._write_question(number, exam, facts, self._sentences.paraphrases)
            case "contradiction":
                opposites: dict[Answer, Answer] = {"yes": "no", (0,): (3,)}
                opposite = opposites.get(base.answer)
                if opposite is None:
                    return replace(base, number=number, answer=self._change_size_in_answer(base, facts))
                return replace(base, number=number, answer=opposite)
            case "laterality":
                changed = replace(facts, side=_SIDES[1 - _SIDES.index(facts.side)])
            case "region":
                changed = replace(
                    facts, region=rng.choice([name for name in _REGIONS if name != facts.region])
                )
            case "size":
                value = facts.size.partition(" ")[0]
                changed = replace(
                    facts,
                    size=f"{int(value) + 1} mm"
                    if value.isdigit()
                    else rng.choice([name for name in _SIZE_WORDS if name != facts.size]),
                )
            case "negation":
                changed = replace(facts, negated=True)
            case _:
                changed = replace(facts, finding=str(spare_index))
        return self._write_question(number, exam, changed, self._sentences.base, sentence_index)

    def _change_size_in_answer(self, base: ComparedQuestion, facts: _Facts) -> str:
        value = facts.size.partition(" ")[0]
        size = f"{int(value) + 9} mm" if value.isdigit() else "large" if facts.size == "small" else "small"
        return str(base.answer).replace(facts.size, size)

    def _edit_question(self, question: ComparedQuestion) -> ComparedQuestion:
        """Change one or two of spelling, case, spaces, marks, articles and order of the options."""
        rng, stem, options, answer = self._rng, question.stem, question.options, question.answer
        for edit in rng.sample(
            ("spelling", "case", "spaces", "marks", "article", "order"), rng.choice((1, 2))
        ):
            if edit == "spelling":
                stem = _misspell(stem, rng)
            elif edit == "case":
                stem = stem.upper() if rng.random() < 0.3 else stem.lower()
            elif edit == "spaces":
                stem = stem.replace(" ", "  ", 2) + " "
            elif edit == "marks":
                stem = stem.rstrip("? ") + rng.choice(("", ".", " ?", "??", ":"))
            elif edit == "article":
                stem = stem.replace(" the ", " ", 1).replace(" a ", " any ", 1)
            elif options and isinstance(answer, tuple):
                order = rng.sample(range(len(options)), len(options))
                answer = tuple(order.index(index) for index in answer)
                options = tuple(options[index] for index in order)
        if (stem, options) == (question.stem, question.options):
            stem = stem.rstrip("?") + " ?"
        return replace(question, stem=stem, options=options, answer=answer)


def _misspell(text: str, rng: random.Random) -> str:
    """Drop, double or exchange a letter inside one word of six or more letters."""
    words = text.split(" ")
    long_words = [
        index
        for index, word in enumerate(words)
        if len(word.strip("?,.")) >= 6 and word.strip("?,.").isalpha()
    ]
    if not long_words:
        return text
    index = rng.choice(long_words)
    word = words[index]
    position = rng.randrange(2, len(word.strip("?,.")) - 1)
    words[index] = rng.choice(
        (
            word[:position] + word[position + 1 :],
            word[:position] + word[position] + word[position:],
            word[:position] + word[position + 1] + word[position] + word[position + 2 :]
            if word[position + 1].isalpha()
            else word[:position] + word[position + 1 :],
        )
    )
    return " ".join(words)
