"""The demo's questions: from the app's question templates, with more questions per exam than in GEMeX."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from demo.facts import ExamFacts
from demo.source_exams import SOURCE_NAME
from domain.provenance import Provenance
from domain.questions import Question
from domain.vocabulary import AnswerFormat
from generation.source_exams import SourceExam
from generation.templates.exam_facts import ExamFacts as KnownFindings
from generation.templates.exam_facts import collect_facts
from generation.templates.question_file import generate_questions

#: The maximum number of questions per exam by format. Few exams allow all of them.
PER_EXAM = {
    AnswerFormat.OPEN: 8,
    AnswerFormat.CLOSED: 8,
    AnswerFormat.SINGLE: 8,
    AnswerFormat.MULTIPLE: 6,
}
#: Maximum number of questions on an exam that has another exam's report. All of these are errors.
_MAX_WITH_WRONG_REPORT = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenQuestion:
    """A question and its origin, what the exam shows, and which findings are known from codes and report."""

    question: Question
    provenance: Provenance
    facts: ExamFacts
    known: KnownFindings


def write_questions(exams: Iterable[tuple[ExamFacts, SourceExam]], *, seed: int) -> list[WrittenQuestion]:
    """Write the questions of all exams. A change to one exam does not change the questions of another.

    An exam with another exam's report has only questions on the findings of that report.
    """
    written_questions = []
    for facts, exam in exams:
        known = collect_facts(exam)
        generated = generate_questions(exam, seed=seed, source=SOURCE_NAME, per_exam=PER_EXAM)
        if facts.case.report_from_exam is not None:
            generated = [
                generated_question for generated_question in generated if generated_question.question.boxes
            ][:_MAX_WITH_WRONG_REPORT]
        written_questions += [
            WrittenQuestion(
                question=generated_question.question,
                provenance=generated_question.provenance,
                facts=facts,
                known=known,
            )
            for generated_question in generated
        ]
    return written_questions
