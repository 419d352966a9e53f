"""Writes the questions of a source as a native file, and counts them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from domain.provenance import Provenance
from domain.questions import Question, Source
from domain.vocabulary import AnswerFormat, Task
from generation.generated_questions import GeneratedQuestion
from generation.question_files import encode_questions, writing_files
from generation.source_exams import SourceExam
from generation.templates.drafts import DraftWriter
from generation.templates.exam_facts import collect_facts
from generation.templates.questions import draft_questions
from generation.templates.selection import PER_EXAM, check_per_exam, select_drafts

#: The source of each question: what wrote it, and the version of the templates.
GENERATOR, VERSION = "template", "3"
#: ReXVQA's names of the tasks (its Table 1).
CONTENT_TYPES = {
    Task.PRESENCE: "Presence Assessment",
    Task.LOCATION: "Location & Distribution",
    Task.NEGATION: "Negation Assessment",
    Task.DIFFERENTIAL: "Differential Diagnosis",
    Task.GEOMETRIC: "Geometric Information",
}


@dataclass(slots=True, kw_only=True)
class GenerationCounts:
    """The counts of a run.

    ``complete`` exams have all requested questions. ``full_formats`` counts, by format, the exams with all
    requested questions of the format.
    """

    exams: int = 0
    complete: int = 0
    without_questions: int = 0
    formats: Counter[AnswerFormat] = field(default_factory=Counter)
    tasks: Counter[Task] = field(default_factory=Counter)
    full_formats: Counter[AnswerFormat] = field(default_factory=Counter)
    not_built: Counter[str] = field(default_factory=Counter)
    unused: Counter[str] = field(default_factory=Counter)

    @property
    def questions(self) -> int:
        """The number of questions."""
        return sum(self.formats.values())


def generate_questions(
    exam: SourceExam,
    *,
    seed: int,
    source: str | None = None,
    per_exam: Mapping[AnswerFormat, int] = PER_EXAM,
    counts: GenerationCounts | None = None,
) -> list[GeneratedQuestion]:
    """Write the questions of one exam. Ids are numbered within the exam.

    Args:
        exam: the exam.
        seed: the seed; the same exam and seed give the same questions.
        source: the name of the source, for the origin of the questions.
        per_exam: the maximum number of questions by format.
        counts: the counts to add to; None if they are not needed.
    """
    counts = counts or GenerationCounts()
    facts = collect_facts(exam)
    writer = DraftWriter(
        facts=facts,
        random=random.Random(f"{seed}/{exam.id}"),  # noqa: S311 - seeded on purpose, nothing secret
        not_built=counts.not_built,
    )
    drafts = select_drafts(
        list(draft_questions(writer)), seed=f"{seed}/{exam.id}/selection", per_exam=per_exam
    )
    by_format = Counter(draft.format for draft in drafts)
    counts.exams += 1
    counts.complete += by_format == Counter(per_exam)
    counts.without_questions += not drafts
    counts.formats.update(by_format)
    counts.tasks.update(draft.task for draft in drafts)
    counts.full_formats.update(format_ for format_, count in per_exam.items() if by_format[format_] == count)
    counts.unused.update(facts.unused)
    return [
        GeneratedQuestion(
            question=Question(
                id=f"{exam.id}-t{number:02d}",
                exam_id=exam.id,
                format=draft.format,
                stem=draft.stem,
                options=draft.options,
                answer=draft.answer,
                explanation=draft.explanation,
                boxes=draft.boxes,
                task=draft.task,
                content_type=CONTENT_TYPES[draft.task],
                category=draft.category,
                subcategory=draft.subcategory,
                difficulty=draft.difficulty,
                source=Source(generator=GENERATOR, version=VERSION),
            ),
            provenance=Provenance(source=source, record=exam.id, evidence=draft.evidence),
        )
        for number, draft in enumerate(drafts, start=1)
    ]


def write_question_file(
    path: Path,
    exams: Iterable[SourceExam],
    *,
    seed: int,
    source: str | None = None,
    comparison: bool = True,
    per_exam: Mapping[AnswerFormat, int] = PER_EXAM,
    report_progress: Callable[[int], None] = lambda _: None,
) -> GenerationCounts:
    """Write the questions of all exams, one per line. The file appears when it is complete.

    Args:
        path: the new file.
        exams: the exams.
        seed: the seed of distractors, selection and order.
        source: the name of the source, for the origin of the questions.
        comparison: whether the reports keep their section on prior exams.
        per_exam: the maximum number of questions by format.
        report_progress: called with the number of exams after each one.

    Raises:
        AlreadyThere: the file exists.
        InvalidValue: ``per_exam`` requests no question, or too many.
    """
    check_per_exam(per_exam)
    counts = GenerationCounts()
    with writing_files(path) as (file,):
        for number, exam in enumerate(exams, start=1):
            questions = generate_questions(exam, seed=seed, source=source, per_exam=per_exam, counts=counts)
            file.writelines(encode_questions(exam, questions, comparison=comparison))
            report_progress(number)
    return counts
