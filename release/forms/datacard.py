"""``datacard.md``: the content and the origin of a release, for its users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from domain.gold import GoldItem
from domain.questions import Source
from domain.vocabulary import AnswerFormat, Difficulty, Task
from release.forms.rexvqa import TASK_NAMES
from release.manifest import VERSION, DrawnBatch
from release.rule import RULE
from release.tally import Tally

_NO_DEVICE = (
    "This is a test set for question answering. It is no medical device and not for diagnosis. The terms of "
    "the images and of the source dataset hold."
)
_SPLITS = (
    "By patient: no patient, and no image by its bytes or its pixels, is in two. The private questions "
    "(`private/questions.jsonl`) have no keys, explanations or boxes here."
)
_TASKS = {task.value: name for task, name in TASK_NAMES.items()}
_SIGNS = "\\`*_{}[]<>#|"


def _source_name(source: Source) -> str:
    named = (source.generator, source.version, source.prompt_version)
    return " ".join(each for each in named if each) or "not stated"


class Content:
    """Counts the kinds of questions of a release."""

    def __init__(self) -> None:
        """Start at 0."""
        self.formats: Counter[str] = Counter()
        self.tasks: Counter[str] = Counter()
        self.tiers: Counter[str] = Counter()
        self.sources: Counter[str] = Counter()
        self.with_boxes = self.boxes = 0
        self.exams: set[str] = set()
        self.patients: set[str] = set()
        self.radiographs: set[tuple[str, str]] = set()
        self._source: tuple[Source, str] | None = None

    def add(self, gold: GoldItem) -> None:
        """Count one question."""
        question, exam = gold.question, gold.judged.exam
        self.formats[question.format] += 1
        self.tasks[question.task or ""] += 1
        self.tiers[question.difficulty or ""] += 1
        self.sources[self._name_of(question.source)] += 1
        self.with_boxes += bool(question.boxes)
        self.boxes += len(question.boxes)
        if exam.id not in self.exams:
            self.exams.add(exam.id)
            if exam.patient:
                self.patients.add(exam.patient)
            self.radiographs |= {(exam.id, each.id) for each in exam.radiographs}

    def _name_of(self, source: Source) -> str:
        """Cached, because consecutive questions mostly have the same generator."""
        if self._source is None or self._source[0] is not source:
            self._source = (source, _source_name(source))
        return self._source[1]


def datacard_text(
    *,
    name: str,
    dataset: str,
    batches: Sequence[DrawnBatch],
    tally: Tally,
    content: Content,
    lacks: Mapping[str, Mapping[str, int]],
    splits: Mapping[str, Mapping[str, int]] | None,
    statement: Sequence[str],
    last_verdict_at: str | None,
    key_errors_under: float | None = None,
    with_parquet: bool = True,
) -> bytes:
    """The data card as Markdown; ``statement`` are sentences about estimates of the whole dataset."""
    return "\n".join(
        [
            f"# {_plain(dataset)}, release {_plain(name)}",
            "",
            _first(tally, last_verdict_at),
            "",
            "## What it holds",
            "",
            _held(content),
            "",
            *_table("Answer format", content.formats, [each.value for each in AnswerFormat], {}),
            *_table("Task", content.tasks, [each.value for each in Task], {**_TASKS, "": "not stated"}),
            *_table("Difficulty", content.tiers, [each.value for each in Difficulty], {"": "not stated"}),
            *_table("Written by", content.sources, sorted(content.sources), {}),
            *_splits(splits),
            "## How it was chosen",
            "",
            RULE,
            "",
            f"Judged: {tally.judged:,}. Left out: "
            + ("; ".join(f"{count:,} {reason}" for reason, count in tally.left_out.items()) or "none")
            + f". Drawn and not judged: {tally.unjudged:,}.",
            "",
            "| stratum | drawn | judged | released |",
            "|---|---:|---:|---:|",
            *(
                f"| {_plain(stratum)} | {counts['drawn']:,} | {counts['judged']:,} | {counts['released']:,} |"
                for stratum, counts in tally.strata.items()
            ),
            "",
            *(f"- Batch {_plain(each.batch.name)}: {_draws(each)}." for each in batches),
            "",
            *_condition(key_errors_under),
            *(["## What the sample says of the whole dataset", "", *statement, ""] if statement else []),
            "## What the other forms lack",
            "",
            "`gold.jsonl` and `gold.parquet` hold every released question whole."
            if with_parquet
            else "`gold.jsonl` holds every released question whole.",
            "",
            *_lacks(lacks),
            "",
            "## Not for diagnosis",
            "",
            _NO_DEVICE,
            "",
        ]
    ).encode()


def _first(tally: Tally, last_verdict_at: str | None) -> str:
    return (
        f"{tally.released:,} questions on chest radiographs, written by machines and accepted "
        f"({tally.accepted:,}) or corrected ({tally.revised:,}) by expert reviewers. Latest verdict: "
        f"{last_verdict_at or 'none'}. Made with Overread {VERSION}."
    )


def _held(content: Content) -> str:
    patients = f" of {len(content.patients):,} patients" if content.patients else ", patients not stated"
    return (
        f"{len(content.exams):,} exams{patients}, {len(content.radiographs):,} radiographs, "
        f"{content.boxes:,} boxes on {content.with_boxes:,} questions."
    )


def _table(title: str, counts: Counter[str], order: Sequence[str], called: Mapping[str, str]) -> list[str]:
    total = sum(counts.values())
    names = [*(each for each in order if counts[each]), *([""] if counts[""] and "" not in order else [])]
    return [
        f"| {title} | questions | % of {total:,} |",
        "|---|---:|---:|",
        *(
            f"| {_plain(called.get(each, each))} | {counts[each]:,} | {counts[each] / total:.1%} |"
            for each in names
        ),
        "",
    ]


def _splits(splits: Mapping[str, Mapping[str, int]] | None) -> list[str]:
    if splits is None:
        return []
    return [
        "## Splits",
        "",
        _SPLITS,
        "",
        "| split | questions | exams |",
        "|---|---:|---:|",
        *(f"| {side} | {counts['questions']:,} | {counts['exams']:,} |" for side, counts in splits.items()),
        "",
    ]


def _draws(drawn: DrawnBatch) -> str:
    number = sum(stratum.drawn for strata in drawn.draws for stratum in strata)
    size = sum(stratum.size for strata in drawn.draws for stratum in strata)
    mode = drawn.batch.settings.mode.value
    if drawn.chosen:
        return f"{number:,} questions found by a search, no random sample, judged in mode “{mode}”"
    return f"{number:,} of {size:,} questions drawn with seed {drawn.plan['seed']}, judged in mode “{mode}”"


def _condition(key_errors_under: float | None) -> list[str]:
    if key_errors_under is None:
        return []
    said = (
        "Released on the condition that the upper 95 % limit of the key errors in the whole dataset is under "
        f"{100 * key_errors_under:g} %, with all that is not covered or skipped counted as errors."
    )
    return [said, ""]


def _lacks(lacks: Mapping[str, Mapping[str, int]]) -> list[str]:
    lines = [
        f"- {form}: {count:,} {reason}"
        for form, reasons in lacks.items()
        for reason, count in reasons.items()
    ]
    return lines or ["Nothing: every form has every question whole."]


def _plain(text: str) -> str:
    """Text from outside, escaped for Markdown."""
    return "".join(f"\\{sign}" if sign in _SIGNS else sign for sign in " ".join(text.split()))
