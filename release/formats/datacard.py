"""``datacard.md``: describes the content and the origin of a release to its users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from domain.gold import GoldItem
from domain.language_models import mark_test_model
from domain.questions import Source
from domain.vocabulary import AnswerFormat, Difficulty, Task
from release.formats.rexvqa import TASK_NAMES
from release.manifest import VERSION, DrawnBatch
from release.rule import RULE
from release.splits import Split
from release.tally import Tally

_NO_DEVICE = (
    "This is a test set for question answering. It is no medical device and not for diagnosis. The terms of "
    "the images and of the source dataset hold."
)
_SPLITS = "No patient and no image is in two splits; images are compared by file and by pixels."
_PRIVATE_SPLIT = (
    "The private questions (`private/questions.jsonl`) are published without keys, explanations and boxes."
)
_SPLIT_FILES = (
    "`splits.jsonl` has the split of each question, and the folders `train`, `valid` and `test` have its "
    "questions in the other forms."
)
_TASKS = {task.value: name for task, name in TASK_NAMES.items()}
_MARKDOWN_CHARACTERS = "\\`*_{}[]<>#|"


def _format_source_name(source: Source) -> str:
    parts = (source.generator, source.version, source.prompt_version)
    return mark_test_model(" ".join(part for part in parts if part)) or "not stated"


class ContentCounts:
    """Counts the kinds of questions of a release."""

    def __init__(self) -> None:
        """Start with all counts at 0."""
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
        self.sources[self._get_source_name(question.source)] += 1
        self.with_boxes += bool(question.boxes)
        self.boxes += len(question.boxes)
        if exam.id not in self.exams:
            self.exams.add(exam.id)
            if exam.patient:
                self.patients.add(exam.patient)
            self.radiographs |= {(exam.id, radiograph.id) for radiograph in exam.radiographs}

    def _get_source_name(self, source: Source) -> str:
        """Return the name of a source.

        The name is cached, because consecutive questions mostly have the same source.
        """
        if self._source is None or self._source[0] is not source:
            self._source = (source, _format_source_name(source))
        return self._source[1]


def render_datacard(
    *,
    name: str,
    dataset: str,
    batches: Sequence[DrawnBatch],
    tally: Tally,
    content: ContentCounts,
    limitations: Mapping[str, Mapping[str, int]],
    splits: Mapping[str, Mapping[str, int]] | None,
    statement: Sequence[str],
    checks: Sequence[str] = (),
    last_verdict_at: str | None,
    key_errors_under: float | None = None,
    with_parquet: bool = True,
) -> bytes:
    """Return the data card as Markdown.

    ``statement`` has the lines on the estimates of the dataset, ``checks`` those on its checks.
    """
    return "\n".join(
        [
            f"# {_escape_markdown(dataset)}, release {_escape_markdown(name)}",
            "",
            _format_introduction(tally, last_verdict_at),
            "",
            "## What it holds",
            "",
            _format_content_summary(content),
            "",
            *_format_table(
                "Answer format", content.formats, [answer_format.value for answer_format in AnswerFormat], {}
            ),
            *_format_table(
                "Task", content.tasks, [task.value for task in Task], {**_TASKS, "": "not stated"}
            ),
            *_format_table(
                "Difficulty", content.tiers, [tier.value for tier in Difficulty], {"": "not stated"}
            ),
            *_format_table("Written by", content.sources, sorted(content.sources), {}),
            *_format_splits(splits),
            "## How it was chosen",
            "",
            RULE,
            "",
            f"Judged: {tally.judged:,}. Left out: "
            + ("; ".join(f"{count:,} {reason}" for reason, count in tally.excluded.items()) or "none")
            + f". Drawn and not judged: {tally.unjudged:,}.",
            "",
            "| stratum | drawn | judged | released |",
            "|---|---:|---:|---:|",
            *(
                f"| {_escape_markdown(stratum)} | {counts['drawn']:,} | {counts['judged']:,} |"
                f" {counts['released']:,} |"
                for stratum, counts in tally.strata.items()
            ),
            "",
            *(
                f"- Batch {_escape_markdown(batch.batch.name)}: {_format_draw_summary(batch)}."
                for batch in batches
            ),
            "",
            *_format_condition(key_errors_under),
            *(["## What the sample says of the whole dataset", "", *statement, ""] if statement else []),
            *(["## How accurate the automatic checks are", "", *checks, ""] if checks else []),
            "## What the other forms lack",
            "",
            (
                "`gold.jsonl` and `gold.parquet` hold every released question whole."
                if with_parquet
                else "`gold.jsonl` holds every released question whole."
            ),
            "",
            *_format_limitations(limitations),
            "",
            "## Not for diagnosis",
            "",
            _NO_DEVICE,
            "",
        ]
    ).encode()


def _format_introduction(tally: Tally, last_verdict_at: str | None) -> str:
    return (
        f"{tally.released:,} questions on chest radiographs, written by machines and accepted "
        f"({tally.accepted:,}) or corrected ({tally.revised:,}) by expert reviewers. Latest verdict: "
        f"{last_verdict_at or 'none'}. Made with Overread {VERSION}."
    )


def _format_content_summary(content: ContentCounts) -> str:
    patients = f" of {len(content.patients):,} patients" if content.patients else ", patients not stated"
    return (
        f"{len(content.exams):,} exams{patients}, {len(content.radiographs):,} radiographs, "
        f"{content.boxes:,} boxes on {content.with_boxes:,} questions."
    )


def _format_table(
    title: str, counts: Counter[str], order: Sequence[str], labels: Mapping[str, str]
) -> list[str]:
    total = sum(counts.values())
    names = [*(name for name in order if counts[name]), *([""] if counts[""] and "" not in order else [])]
    return [
        f"| {title} | questions | % of {total:,} |",
        "|---|---:|---:|",
        *(
            f"| {_escape_markdown(labels.get(name, name))} | {counts[name]:,} | {counts[name] / total:.1%} |"
            for name in names
        ),
        "",
    ]


def _format_splits(splits: Mapping[str, Mapping[str, int]] | None) -> list[str]:
    if splits is None:
        return []
    return [
        "## Splits",
        "",
        " ".join(
            [
                _SPLITS,
                *([_PRIVATE_SPLIT] if Split.PRIVATE in splits else []),
                *([_SPLIT_FILES] if Split.TRAIN in splits else []),
            ]
        ),
        "",
        "| split | questions | exams |",
        "|---|---:|---:|",
        *(f"| {name} | {counts['questions']:,} | {counts['exams']:,} |" for name, counts in splits.items()),
        "",
    ]


def _format_draw_summary(drawn_batch: DrawnBatch) -> str:
    n_drawn = sum(stratum.drawn for strata in drawn_batch.draws for stratum in strata)
    size = sum(stratum.size for strata in drawn_batch.draws for stratum in strata)
    settings = drawn_batch.batch.settings
    judged = f"judged in mode “{settings.mode.value}”" + (
        " with one-key accept: fields without input got the top rating or yes; the difficulty may be missing"
        if settings.one_key_accept
        else ""
    )
    if drawn_batch.batch.plan.balance is not None:
        balance = drawn_batch.batch.plan.balance
        return (
            f"{n_drawn:,} questions on {balance.exams:,} exams selected by the findings in their reports "
            f"with seed {drawn_batch.plan['seed']}, {100 * balance.healthy_share:g} % healthy, not a random "
            f"sample, {judged}"
        )
    if drawn_batch.from_search:
        return f"{n_drawn:,} questions selected by a search, not a random sample, {judged}"
    return f"{n_drawn:,} of {size:,} questions drawn with seed {drawn_batch.plan['seed']}, {judged}"


def _format_condition(key_errors_under: float | None) -> list[str]:
    if key_errors_under is None:
        return []
    condition = (
        "Released on the condition that the upper 95 % limit of the rate of key errors in the whole dataset "
        f"is below {100 * key_errors_under:g} %. Questions that are skipped or not covered count as errors."
    )
    return [condition, ""]


def _format_limitations(limitations: Mapping[str, Mapping[str, int]]) -> list[str]:
    lines = [
        f"- {format_name}: {count:,} {reason}"
        for format_name, reasons in limitations.items()
        for reason, count in reasons.items()
    ]
    return lines or ["Nothing: every form has every question whole."]


def _escape_markdown(text: str) -> str:
    """Escape text from outside for Markdown."""
    return "".join(
        f"\\{character}" if character in _MARKDOWN_CHARACTERS else character
        for character in " ".join(text.split())
    )
