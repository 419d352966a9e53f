"""The rule by which a judged question becomes gold, or is left out with the reason."""

from __future__ import annotations

from domain.batches import Parts
from domain.corrections import changes, corrected
from domain.gold import GoldItem, JudgedQuestion, LeaveOut, LeftOut
from domain.verdicts import Decision

#: The rule in words; it stands in every manifest.
RULE = (
    "A question is released when the latest verdict of everybody who judged it in these batches is accept "
    "or revise, when they correct it in the same way (or none of them does), and when at least one of them "
    "was asked for more than its image alignment. It carries that correction. Everything else that was "
    "judged is in left_out.jsonl with the reason."
)


def settle(judged: JudgedQuestion) -> GoldItem | LeftOut:
    """What becomes of a judged question."""
    decisions = {each.verdict.decision for each in judged.judgements}
    if Decision.REJECT in decisions:
        reason = LeaveOut.REJECTED if decisions == {Decision.REJECT} else LeaveOut.DECISIONS_DIFFER
        return LeftOut(judged=judged, reason=reason)
    if all(each.parts is Parts.IMAGE_ALIGNMENT for each in judged.judgements):
        return LeftOut(judged=judged, reason=LeaveOut.ALIGNMENT_ONLY)
    whole = [each for each in judged.judgements if each.parts is not Parts.IMAGE_ALIGNMENT]
    correcting = [each.verdict.opinion.correction for each in judged.judgements]
    # Who was asked for image alignment alone has not approved the wording: only their corrections count.
    results = [corrected(judged.question, each.verdict.opinion.correction) for each in whole]
    results += [corrected(judged.question, each) for each in correcting if not each.is_empty()]
    if any(result != results[0] for result in results):
        return LeftOut(judged=judged, reason=LeaveOut.CORRECTIONS_DIFFER)
    by_change = (each for each in correcting if corrected(judged.question, each) == results[0])
    made = changes(judged.question, next(by_change))
    return GoldItem(
        question=results[0],
        judged=judged,
        decision=Decision.REVISE if made else Decision.ACCEPT,
        changes=made,
    )
