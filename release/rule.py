"""Decides whether a judged question is released, and with which corrections."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache

from domain.adjudications import Adjudication
from domain.batches import FormScope
from domain.corrections import Correction, apply_correction, diff_questions
from domain.gold import Excluded, ExclusionReason, GoldItem, JudgedQuestion
from domain.questions import Question
from domain.verdicts import Decision
from review.disputes import boxes_match

#: The rule as text, for the manifest.
RULE = (
    "A question whose dispute was settled is released as the latest adjudication has it, or left out where "
    "that rejects it. Any other is released when the latest verdict of everybody who judged it in these "
    "batches is accept or revise, when they correct it in the same way (or none of them does; boxes are the "
    "same from the batch's overlap on, and the first reviewer's are taken), and when at least one of them "
    "was asked for more than its image alignment. It carries that correction. Everything else that was "
    "judged is in left_out.jsonl with the reason."
)


def decide_release(judged: JudgedQuestion) -> GoldItem | Excluded:
    """Decide whether a judged question is released, and apply its corrections.

    Args:
        judged: the question with all judgements and its adjudication, if there is one.

    Returns:
        The released question, or the question with the reason for its exclusion.
    """
    if judged.adjudication is not None:
        return _resolve_adjudicated_outcome(judged, judged.adjudication)
    outcome = resolve_outcome_without_content(
        frozenset(
            [
                (judgement.decision, judgement.parts, judgement.correction.is_empty())
                for judgement in judged.judgements
            ]
        )
    )
    if isinstance(outcome, ExclusionReason):
        return Excluded(judged=judged, reason=outcome)
    if outcome is not None:  # a fast path for most questions; a release may contain a hundred thousand
        return GoldItem(question=judged.question, judged=judged, decision=outcome, changes=())
    full_judgements = [
        judgement for judgement in judged.judgements if judgement.parts is not FormScope.IMAGE_ALIGNMENT
    ]
    # Reviewers who were asked for image alignment only have not approved the wording, so only their
    # corrections count.
    relevant = [
        judgement
        for judgement in judged.judgements
        if judgement in full_judgements or not judgement.correction.is_empty()
    ]
    first_correction = full_judgements[0].correction
    result = _apply_correction(judged.question, first_correction)
    for judgement in relevant:
        if judgement is not full_judgements[0] and not _are_same_question(
            result, _apply_correction(judged.question, judgement.correction), min_iou=judged.same_box_iou
        ):
            return Excluded(judged=judged, reason=ExclusionReason.CORRECTIONS_DIFFER)
    return _build_gold_item(judged, result)


@cache
def resolve_outcome_without_content(
    judgements: frozenset[tuple[Decision, FormScope, bool]],
) -> ExclusionReason | Decision | None:
    """Return the outcome of a question without adjudication, unless it depends on the content of corrections.

    Args:
        judgements: (decision, scope of the form, whether nothing was corrected) of all judgements of the
            question.

    Returns:
        The reason for the exclusion, ACCEPT if the question is released unchanged, or None if the corrections
        must be compared.
    """
    decisions = {decision for decision, _, _ in judgements}
    if Decision.REJECT in decisions:
        return (
            ExclusionReason.REJECTED if decisions == {Decision.REJECT} else ExclusionReason.DECISIONS_DIFFER
        )
    if all(form_scope is FormScope.IMAGE_ALIGNMENT for _, form_scope, _ in judgements):
        return ExclusionReason.ALIGNMENT_ONLY
    return Decision.ACCEPT if all(nothing_corrected for _, _, nothing_corrected in judgements) else None


def _resolve_adjudicated_outcome(judged: JudgedQuestion, adjudication: Adjudication) -> GoldItem | Excluded:
    if adjudication.decision is Decision.REJECT:
        return Excluded(judged=judged, reason=ExclusionReason.REJECTED_BY_ADJUDICATOR)
    return _build_gold_item(judged, _apply_correction(judged.question, adjudication.correction))


def _build_gold_item(judged: JudgedQuestion, result: Question) -> GoldItem:
    changes = () if result is judged.question else diff_questions(judged.question, result)
    decision = Decision.REVISE if changes else Decision.ACCEPT
    return GoldItem(question=result, judged=judged, decision=decision, changes=changes)


def _are_same_question(first: Question, second: Question, *, min_iou: float) -> bool:
    if first == second:
        return True
    return replace(first, boxes=()) == replace(second, boxes=()) and boxes_match(
        first.boxes, second.boxes, min_iou=min_iou
    )


def _apply_correction(question: Question, correction: Correction) -> Question:
    return question if correction.is_empty() else apply_correction(question, correction)


def exclude_removed_images(
    outcomes: Iterator[GoldItem | Excluded], removed: Collection[str]
) -> Iterator[GoldItem | Excluded]:
    """Exclude the questions of exams with an image that a person decided to remove.

    Args:
        outcomes: the outcomes of judged questions.
        removed: the SHA-256 of the removed images.
    """
    if not removed:
        return outcomes
    removed_hashes = frozenset(removed)
    return (_exclude_if_removed(outcome, removed_hashes) for outcome in outcomes)


def _exclude_if_removed(outcome: GoldItem | Excluded, removed: frozenset[str]) -> GoldItem | Excluded:
    if isinstance(outcome, GoldItem) and not removed.isdisjoint(image_hashes(outcome)):
        return Excluded(judged=outcome.judged, reason=ExclusionReason.PATIENT_DATA_IN_IMAGE)
    return outcome


def image_hashes(outcome: GoldItem | Excluded) -> set[str]:
    """Return the SHA-256 of the images of the question's exam."""
    return {
        radiograph.sha256 for radiograph in outcome.judged.exam.radiographs if radiograph.sha256 is not None
    }
