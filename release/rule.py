"""The rule that decides whether a judged question is released."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from domain.adjudications import Adjudication
from domain.batches import Parts
from domain.corrections import Correction, corrected, differences
from domain.gold import GoldItem, JudgedQuestion, LeaveOut, LeftOut
from domain.questions import Question
from domain.verdicts import Decision
from review.disputes import same_boxes

#: The rule as text, for the manifest.
RULE = (
    "A question whose dispute was settled is released as the latest adjudication has it, or left out where "
    "that rejects it. Any other is released when the latest verdict of everybody who judged it in these "
    "batches is accept or revise, when they correct it in the same way (or none of them does; boxes are the "
    "same from the batch's overlap on, and the first reviewer's are taken), and when at least one of them "
    "was asked for more than its image alignment. It carries that correction. Everything else that was "
    "judged is in left_out.jsonl with the reason."
)


def settle(judged: JudgedQuestion) -> GoldItem | LeftOut:
    """Decide whether a judged question is released, and apply its corrections.

    Args:
        judged: the question with all judgements and its adjudication, if there is one.

    Returns:
        The released question, or the reason why it is left out.
    """
    if judged.adjudication is not None:
        return _adjudicated(judged, judged.adjudication)
    plain = plain_outcome(
        frozenset([(each.decision, each.parts, each.correction.is_empty()) for each in judged.judgements])
    )
    if isinstance(plain, LeaveOut):
        return LeftOut(judged=judged, reason=plain)
    if plain is not None:  # most questions; a release may contain a hundred thousand
        return GoldItem(question=judged.question, judged=judged, decision=plain, changes=())
    whole = [each for each in judged.judgements if each.parts is not Parts.IMAGE_ALIGNMENT]
    # Reviewers who were asked for image alignment only have not approved the wording: only corrections count.
    counted = [each for each in judged.judgements if each in whole or not each.correction.is_empty()]
    first = whole[0].correction
    result = _result(judged.question, first)
    for each in counted:
        if each is not whole[0] and not _same(
            result, _result(judged.question, each.correction), same_box=judged.same_box
        ):
            return LeftOut(judged=judged, reason=LeaveOut.CORRECTIONS_DIFFER)
    return _gold(judged, result)


@cache
def plain_outcome(said: frozenset[tuple[Decision, Parts, bool]]) -> LeaveOut | Decision | None:
    """The outcome of a question without adjudication, if it does not depend on the content of corrections.

    Args:
        said: (decision, parts that the batch asks for, whether nothing was corrected) of all its judgements.

    Returns:
        Why it is left out; ACCEPT if it is released unchanged; None if the corrections must be compared.
    """
    decisions = {decision for decision, _, _ in said}
    if Decision.REJECT in decisions:
        return LeaveOut.REJECTED if decisions == {Decision.REJECT} else LeaveOut.DECISIONS_DIFFER
    if all(parts is Parts.IMAGE_ALIGNMENT for _, parts, _ in said):
        return LeaveOut.ALIGNMENT_ONLY
    return Decision.ACCEPT if all(nothing_corrected for _, _, nothing_corrected in said) else None


def _adjudicated(judged: JudgedQuestion, adjudication: Adjudication) -> GoldItem | LeftOut:
    if adjudication.decision is Decision.REJECT:
        return LeftOut(judged=judged, reason=LeaveOut.SETTLED_AGAINST)
    return _gold(judged, _result(judged.question, adjudication.correction))


def _gold(judged: JudgedQuestion, result: Question) -> GoldItem:
    made = () if result is judged.question else differences(judged.question, result)
    decision = Decision.REVISE if made else Decision.ACCEPT
    return GoldItem(question=result, judged=judged, decision=decision, changes=made)


def _same(one: Question, other: Question, *, same_box: float) -> bool:
    if one == other:
        return True
    return replace(one, boxes=()) == replace(other, boxes=()) and same_boxes(
        one.boxes, other.boxes, same_box=same_box
    )


def _result(question: Question, correction: Correction) -> Question:
    return question if correction.is_empty() else corrected(question, correction)
