"""Errors planted in the demo's questions, several of each kind.

A question with an error replaces a correct question and keeps its id, so that only its content reveals the
error.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from demo.phantom import FindingKind
from demo.planted_edits import EDITS
from demo.planted_replacements import REPLACEMENTS
from demo.questions import WrittenQuestion
from demo.source_exams import FINDINGS
from domain.provenance import Provenance
from domain.questions import Question
from domain.verdicts import ErrorKind
from generation.generated_questions import GeneratedQuestion

#: Maximum number of questions with each kind of error.
QUESTIONS_PER_ERROR = 8
#: Maximum number of questions with each of the faults that the structural checks detect.
QUESTIONS_PER_FAULT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedError:
    """A question with a planted error. ``corrected`` is the correct version; None if there is none."""

    kind: ErrorKind
    question: Question
    corrected: Question | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """All questions in order, the planted errors, and the structural faults, both by question id."""

    generated: tuple[GeneratedQuestion, ...]
    planted: dict[str, PlantedError]
    faults: dict[str, str]

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions without their origins."""
        return tuple(generated.question for generated in self.generated)

    def find_question(self, question_id: str) -> Question:
        """Return the question with an id, including its planted error.

        Raises:
            KeyError: no question has that id.
        """
        for question in self.questions:
            if question.id == question_id:
                return question
        raise KeyError(question_id)

    def build_answer_key(self) -> dict[str, str]:
        """Return the kind of error or the name of the structural fault by question id."""
        kinds = {question_id: str(planted_error.kind) for question_id, planted_error in self.planted.items()}
        return dict(sorted((kinds | self.faults).items()))


def plant_errors(written_questions: list[WrittenQuestion], *, seed: int) -> QuestionSet:
    """Plant errors in some of the questions. The same questions and seed give the same errors."""
    rng = random.Random(f"{seed}/planted")
    planted = _find_questions_with_wrong_report(written_questions)
    stems = {
        (written_question.question.exam_id, written_question.question.stem)
        for written_question in written_questions
    }
    for kind, plant_error in (*REPLACEMENTS.items(), *EDITS.items()):
        candidates = [
            written_question
            for written_question in written_questions
            if written_question.question.id not in planted
        ]
        rng.shuffle(candidates)
        count = 0
        for written_question in candidates:
            if count == QUESTIONS_PER_ERROR:
                break
            faulty = plant_error(written_question, rng)
            if faulty is None or faulty == written_question.question:
                continue
            exam_and_stem = (faulty.exam_id, faulty.stem)
            if faulty.stem != written_question.question.stem:
                if exam_and_stem in stems:
                    continue
                stems.add(exam_and_stem)
            corrected = written_question.question if kind in EDITS else None
            planted[faulty.id] = PlantedError(kind=kind, question=faulty, corrected=corrected)
            count += 1
    faults = _plant_structural_faults(written_questions, used_ids=set(planted), rng=rng)
    return QuestionSet(
        generated=tuple(
            _apply_plan(written_question, planted, faults) for written_question in written_questions
        ),
        planted=planted,
        faults={question_id: fault for question_id, (_, fault) in faults.items()},
    )


def _apply_plan(
    written_question: WrittenQuestion,
    planted: dict[str, PlantedError],
    faults: dict[str, tuple[Question, str]],
) -> GeneratedQuestion:
    """Return the question as planned: with its error, with its fault, or as it was written."""
    question, provenance = written_question.question, written_question.provenance
    if question.id in planted:
        error = planted[question.id]
        question = error.question
        if error.kind in REPLACEMENTS:
            provenance = _find_provenance(question, written_question)
    elif question.id in faults:
        question = faults[question.id][0]
    return GeneratedQuestion(question=question, provenance=provenance)


def _find_provenance(question: Question, written_question: WrittenQuestion) -> Provenance:
    """Return the provenance of a replacement: its evidence is what is known of the findings in its boxes."""
    kinds = dict.fromkeys(FindingKind(labelled_box.label) for labelled_box in question.boxes)
    evidence = tuple(
        fact for kind in kinds for fact in written_question.known.list_evidence(FINDINGS[kind][0])
    )
    return replace(written_question.provenance, evidence=evidence or written_question.provenance.evidence)


def _find_questions_with_wrong_report(written_questions: list[WrittenQuestion]) -> dict[str, PlantedError]:
    """Return all questions on exams that have another exam's report."""
    return {
        written_question.question.id: PlantedError(
            kind=ErrorKind.EXAM_MISMATCH, question=written_question.question, corrected=None
        )
        for written_question in written_questions
        if written_question.facts.case.report_from_exam is not None
    }


def _plant_structural_faults(
    written_questions: list[WrittenQuestion], *, used_ids: set[str], rng: random.Random
) -> dict[str, tuple[Question, str]]:
    faulty_questions: dict[str, tuple[Question, str]] = {}
    for name, apply_fault in _STRUCTURAL_FAULTS.items():
        shuffled_questions = [
            written_question
            for written_question in written_questions
            if written_question.question.id not in used_ids
        ]
        rng.shuffle(shuffled_questions)
        candidates = [
            (written_question.question.id, apply_fault(written_question.question))
            for written_question in shuffled_questions
        ]
        for question_id, question in [(key, changed) for key, changed in candidates if changed is not None][
            :QUESTIONS_PER_FAULT
        ]:
            faulty_questions[question_id] = (question, name)
            used_ids.add(question_id)
    return faulty_questions


def _shorten_explanation(question: Question) -> Question:
    return replace(question, explanation="As seen.")


def _remove_category(question: Question) -> Question:
    return replace(question, category=None)


def _remove_explanation(question: Question) -> Question:
    return replace(question, explanation="")


def _set_missing_value_explanation(question: Question) -> Question:
    return replace(question, explanation="nan")


def _keep_three_options(question: Question) -> Question | None:
    if not question.options or 3 in question.answer:
        return None
    return replace(question, options=question.options[:3])


def _duplicate_option(question: Question) -> Question | None:
    if not question.options or not {2, 3}.isdisjoint(question.answer):
        return None
    return replace(question, options=(*question.options[:3], question.options[2]))


_STRUCTURAL_FAULTS: dict[str, Callable[[Question], Question | None]] = {
    "check: short explanation": _shorten_explanation,
    "check: no category": _remove_category,
    "check: no explanation": _remove_explanation,
    "check: explanation is a missing value": _set_missing_value_explanation,
    "check: three options": _keep_three_options,
    "check: an option twice": _duplicate_option,
}
