"""Results of reviewers in practice sets: which verdicts agree with the known answers, and who passes.

Only first verdicts count, because the known answer is shown after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from domain.adjudications import Adjudication
from domain.corrections import CORRECTABLE_FIELDS, Correction
from domain.practice import KnownAnswer, PassMark, PracticeVerdict
from domain.verdicts import Decision, ErrorKind, Verdict
from measures.proportions import Proportion, wilson_by_cluster


class PracticeState(StrEnum):
    """The state of a reviewer's work on a practice set."""

    OPEN = "not finished"
    PASSED = "passed"
    FAILED = "not passed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeScore:
    """A reviewer's result: the share of errors found, and the share of sound questions accepted.

    The shares count judged questions and have Wilson intervals clustered by exam. ``questions`` is the number
    of questions of the set.
    """

    found: Proportion
    accepted: Proportion
    questions: int
    state: PracticeState

    @property
    def judged(self) -> int:
        """The number of judged questions."""
        return self.found.n + self.accepted.n


def agrees_with_known_answer(known_answer: KnownAnswer, verdict: Verdict) -> bool:
    """Whether a verdict agrees with the known answer.

    A sound question must be accepted without a reported error. The error of a faulty question is found if the
    verdict reports one of its kinds or corrects one of the fields that the experts corrected. If neither
    kinds nor corrected fields are known, the question must not be accepted.
    """
    opinion = verdict.opinion
    if known_answer.is_sound:
        return verdict.decision is Decision.ACCEPT and not opinion.errors
    corrected_fields = _list_corrected_fields(known_answer)
    if not known_answer.errors and not corrected_fields:
        return verdict.decision is not Decision.ACCEPT
    is_corrected = any(getattr(opinion.correction, name) is not None for name in corrected_fields)
    return bool(opinion.errors & known_answer.errors) or is_corrected


def compute_score(verdicts: Sequence[PracticeVerdict], *, pass_mark: PassMark) -> PracticeScore:
    """Compute a reviewer's result from all questions of a practice set."""
    shares = []
    for is_sound in (False, True):
        results = [
            (agrees_with_known_answer(question.known_answer, question.verdict), question.exam_row_id)
            for question in verdicts
            if question.verdict is not None and question.known_answer.is_sound is is_sound
        ]
        shares.append(wilson_by_cluster([agrees for agrees, _ in results], [exam for _, exam in results]))
    found, accepted = shares
    state = PracticeState.OPEN
    if verdicts and all(question.verdict is not None for question in verdicts):
        # A share is undefined if the set has no questions of its kind; it then has no mark to reach.
        is_passed = (found.estimate is None or found.estimate >= pass_mark.found) and (
            accepted.estimate is None or accepted.estimate >= pass_mark.accepted
        )
        state = PracticeState.PASSED if is_passed else PracticeState.FAILED
    return PracticeScore(found=found, accepted=accepted, questions=len(verdicts), state=state)


def format_pass_mark(pass_mark: PassMark) -> str:
    """Format a pass mark: "pass mark: 70 % of errors found, 80 % of sound questions accepted"."""
    found, accepted = f"{100 * pass_mark.found:g} %", f"{100 * pass_mark.accepted:g} %"
    return f"pass mark: {found} of errors found, {accepted} of sound questions accepted"


def format_share(share: Proportion) -> str:
    """Format a share with its interval and n, such as "67 % (21 to 94), 2 of 3"."""
    if share.estimate is None:
        return f"not defined, {share.count:,} of {share.n:,}"
    interval = ""
    if share.low is not None and share.high is not None:
        interval = f" ({100 * share.low:.0f} to {100 * share.high:.0f})"
    return f"{100 * share.estimate:.0f} %{interval}, {share.count:,} of {share.n:,}"


def settle_known_answer(verdicts: Sequence[Verdict], adjudication: Adjudication | None) -> KnownAnswer | None:
    """Return what reviewers and adjudicator settled about a question; None if it is not settled.

    It is settled by an adjudication, or by verdicts with the same decision. An accepted question with a
    reported error is not settled. With an adjudication, the errors are from the adopted verdicts only, and
    the correction is the adjudicator's.
    """
    if adjudication is not None:
        adopted = [verdict for verdict in verdicts if verdict.person_id in adjudication.follows]
        return _build_known_answer(
            adjudication.decision, adopted, [adjudication.reason], corrections=[adjudication.correction]
        )
    if not verdicts or len({verdict.decision for verdict in verdicts}) > 1:
        return None
    if verdicts[0].decision is Decision.ACCEPT and any(verdict.opinion.errors for verdict in verdicts):
        return None
    opinions = [verdict.opinion for verdict in verdicts]
    texts = [text for opinion in opinions for text in (opinion.clinical_reasoning, opinion.comment)]
    corrections = [opinion.correction for opinion in opinions]
    return _build_known_answer(verdicts[0].decision, verdicts, texts, corrections=corrections)


def _build_known_answer(
    decision: Decision,
    verdicts: Sequence[Verdict],
    texts: Sequence[str],
    *,
    corrections: Sequence[Correction],
) -> KnownAnswer:
    explanation = "\n".join(dict.fromkeys(text.strip() for text in texts if text.strip()))
    if decision is Decision.ACCEPT:
        return KnownAnswer(decision=decision, explanation=explanation)
    errors = frozenset[ErrorKind]().union(*(verdict.opinion.errors for verdict in verdicts))
    own_corrections = [correction for correction in corrections if not correction.is_empty()]
    values = {"correction": own_corrections[0]} if own_corrections else {}
    return KnownAnswer(decision=decision, errors=errors, explanation=explanation, **values)


def _list_corrected_fields(known_answer: KnownAnswer) -> list[str]:
    return [name for name in CORRECTABLE_FIELDS if getattr(known_answer.correction, name) is not None]
