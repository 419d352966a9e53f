"""Scores open answers: by the marks of an expert, or by exact match with the answer key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from domain.marks import AnswerId, AnswerMark, MarkerRole, MarkRevision, identify_answer
from domain.protocols import Protocol
from domain.questions import Answer, Question
from domain.studies import Case


class OpenAnswerScore(StrEnum):
    """The score of an open answer. ``NOT_MARKED`` answers wait for a mark and are neither right nor wrong."""

    EQUAL_TO_KEY = "equal to key"
    RIGHT = "right"
    PARTLY = "partly"
    WRONG = "wrong"
    NOT_MARKED = "not marked"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAnswer:
    """A distinct open answer; ``text`` is one of its spellings."""

    id: AnswerId
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerScoring:
    """Scores answers by a protocol and by the marks of the first marker."""

    protocol: Protocol
    marks: Mapping[AnswerId, AnswerMark]

    def score_open(self, case: Case, text: str) -> OpenAnswerScore:
        """Return the score of an open answer to a case."""
        if case.question.is_correct(text):
            return OpenAnswerScore.EQUAL_TO_KEY
        if not self.protocol.marks_open_answers:
            return OpenAnswerScore.WRONG
        mark = self.marks.get(identify_answer(case.blind_case.id, text))
        return OpenAnswerScore.NOT_MARKED if mark is None else OpenAnswerScore(mark.value)

    def points(self, score: OpenAnswerScore) -> float | None:
        """Return the points of a score, 0 to 1; None if the answer is not marked."""
        if score is OpenAnswerScore.NOT_MARKED:
            return None
        if score is OpenAnswerScore.PARTLY:
            return self.protocol.effective_partly_right_rule.points
        return 0.0 if score is OpenAnswerScore.WRONG else 1.0

    def is_correct(self, case: Case, answer: Answer | None) -> bool | None:
        """Whether an answer is correct; None if it is an open answer that is not marked.

        Half a point counts as wrong. None as ``answer`` (no answer) is not correct.
        """
        if not isinstance(answer, str) or not case.question.format.is_free_text:
            return case.question.is_correct(answer)
        points = self.points(self.score_open(case, answer))
        return None if points is None else points == 1.0


def build_scoring(protocol: Protocol, marks: Iterable[MarkRevision]) -> AnswerScoring:
    """Return the scoring by a protocol and by the first marker's marks. Undone marks are ignored.

    ``marks`` has the latest revision of each mark.
    """
    return AnswerScoring(protocol=protocol, marks=select_marks(marks, MarkerRole.FIRST))


def select_marks(marks: Iterable[MarkRevision], role: MarkerRole) -> dict[AnswerId, AnswerMark]:
    """Return the marks of one marker by answer, without undone marks."""
    return {
        revision.answer: revision.mark
        for revision in marks
        if revision.role is role and revision.mark is not None
    }


def list_answers_to_mark(
    answers: Iterable[tuple[int, str]], questions: Mapping[int, Question]
) -> tuple[OpenAnswer, ...]:
    """Return the distinct answers that differ from the key.

    Answers to one case are adjacent, in the order of their hashes, which reveals nothing about who answered.

    Args:
        answers: (case id, text) of each answer.
        questions: the questions with their keys by case id, in the order of the cases.
    """
    texts: dict[AnswerId, str] = {}
    for case_id, text in answers:
        if not questions[case_id].is_correct(text):
            answer_id = identify_answer(case_id, text)
            shown_text = " ".join(text.split())
            texts[answer_id] = min(texts.get(answer_id, shown_text), shown_text)
    position_by_case = {case_id: position for position, case_id in enumerate(questions)}
    ordered_ids = sorted(texts, key=lambda answer: (position_by_case[answer.case_id], answer.text_sha256))
    return tuple(OpenAnswer(id=answer_id, text=texts[answer_id]) for answer_id in ordered_ids)
