"""The number of cases that a source has for a study, and the default sizes of a new study."""

from __future__ import annotations

from dataclasses import dataclass

_SCORED, _TRAINING, _REPEATS, _REPEAT_GAP = 200, 5, 20, 30


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySizes:
    """Numbers of scored cases, training cases and hidden repeats, and the minimum distance of a repeat."""

    scored: int
    training: int
    repeats: int
    repeat_gap: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AvailableCases:
    """The numbers of questions and of exams that a source has."""

    questions: int
    exams: int

    def count(self, *, one_per_exam: bool) -> int:
        """Return the largest possible number of scored cases."""
        return self.exams if one_per_exam else self.questions

    def suggest_sizes(self, *, one_per_exam: bool) -> StudySizes:
        """Suggest sizes that can be drawn: the default sizes, or smaller ones if the source is small.

        Training cases and scored cases are on different exams, so their total is at most the number of exams.

        >>> AvailableCases(questions=1290, exams=36).suggest_sizes(one_per_exam=True)
        StudySizes(scored=33, training=3, repeats=3, repeat_gap=16)
        >>> AvailableCases(questions=1290, exams=36).suggest_sizes(one_per_exam=False)
        StudySizes(scored=200, training=0, repeats=20, repeat_gap=30)
        """
        if one_per_exam:
            training = min(_TRAINING, self.exams // 10)
            scored = min(_SCORED, self.exams - training)
        else:
            scored = min(_SCORED, self.questions)
            training = _TRAINING if scored + _TRAINING <= self.exams else 0
        return StudySizes(
            scored=scored,
            training=training,
            repeats=min(_REPEATS, scored // 10),
            repeat_gap=min(_REPEAT_GAP, max(1, scored // 2)),
        )
