"""The AR-score: a judge model scores the key's text and the model's text; the AR-score is their ratio.

The judge sees the question, the report and both texts without knowing which is the key. Each pair is judged
in both orders, because judges prefer a position, and the score of a question is the mean of both, x 100.
Replies without two scores and replies with a reference score of 0 have no AR-score and are counted
separately. Values above 100 are possible and are not capped.

Sources: Liu B et al., GEMeX, ICCV 2025, section 4.2; Li C et al., LLaVA-Med, NeurIPS 2023 (mean of the
relative scores of single questions).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy

from evaluation.cases import EvaluatedQuestion
from language_models.prompts import Prompt
from language_models.requests import ModelRequest
from measures.means import Mean, mean_by_cluster

#: The name of the score in tables.
AR_SCORE = "AR-score"
#: The prompt of the judge.
JUDGE_PROMPT = Path(__file__).parent / "prompts" / "answer-reason.toml"
#: The orders in which the two texts are shown, as written in the ids of requests.
REFERENCE_FIRST, CANDIDATE_FIRST = "reference first", "candidate first"
ORDERS = (REFERENCE_FIRST, CANDIDATE_FIRST)
_SCORE_LINE = re.compile(
    r"\s*(?:scores?\s*:)?\s*(\d{1,2}(?:\.\d+)?)(?:\s*/\s*10)?[\s,;]+(\d{1,2}(?:\.\d+)?)(?:\s*/\s*10)?\s*",
    re.IGNORECASE,
)
_MAX_SCORE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPair:
    """The scores of a judge, 0 to 10, for the key's text and the model's text, in one order."""

    reference: float
    candidate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReasonScores:
    """The AR-scores of a model.

    Attributes:
        values: the AR-score (x 100) of each question that has one in both orders, by its id.
        judged: the number of questions whose requests have ended in both orders.
        failed: requests without a reply.
        unparseable: replies without two scores from 0 to 10.
        zero_references: replies in which the key's text has the score 0.
        order_bias: the mean AR-score with the candidate first minus that with the reference first, in
            points, with its interval; 0 if the judge has no preference for a position.
    """

    values: Mapping[int, float]
    judged: int
    failed: int
    unparseable: int
    zero_references: int
    order_bias: Mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A judge compared with experts on ``n`` questions that both scored; differences are judge minus expert.

    ``low`` and ``high`` are Bland and Altman's limits of agreement. All values are None with fewer than three
    questions; correlations are also None if all scores of the judge, or of the experts, are equal.
    """

    n: int
    spearman: float | None
    pearson: float | None
    mean_difference: float | None
    low: float | None
    high: float | None


def build_judge_requests(
    item: EvaluatedQuestion, prompt: Prompt, *, report: str, reference: str, candidate: str
) -> list[ModelRequest]:
    """Build the requests for one question: the pair in both orders."""
    texts = {REFERENCE_FIRST: (reference, candidate), CANDIDATE_FIRST: (candidate, reference)}
    return [
        prompt.build_request(
            custom_id=f"{item.number} {order}",
            values={
                "question": item.question.stem,
                "report": report or "not available",
                "first": first or "(no answer)",
                "second": second or "(no answer)",
            },
        )
        for order, (first, second) in texts.items()
    ]


def parse_scores(reply: str, order: str) -> JudgedPair | None:
    r"""Return the scores on the first non-empty line of a reply; None if the line has other content.

    >>> parse_scores("9 4\nThe second answer misses the effusion.", REFERENCE_FIRST)
    JudgedPair(reference=9.0, candidate=4.0)
    >>> parse_scores("Assistant 1 is better.", REFERENCE_FIRST)
    """
    lines = [line for line in reply.splitlines() if line.strip()]
    match = _SCORE_LINE.fullmatch(lines[0]) if lines else None
    if match is None:
        return None
    first, second = float(match[1]), float(match[2])
    if max(first, second) > _MAX_SCORE:
        return None
    if order == REFERENCE_FIRST:
        return JudgedPair(reference=first, candidate=second)
    return JudgedPair(reference=second, candidate=first)


def compute_relative_score(pair: JudgedPair) -> float | None:
    """Return the candidate's score divided by the reference's, x 100; None if the reference has 0.

    >>> compute_relative_score(JudgedPair(reference=9, candidate=4))  # 44.44
    44.44444444444444
    """
    return 100 * pair.candidate / pair.reference if pair.reference else None


def compute_answer_reason(
    replies: Iterable[tuple[str, str | None]], *, clusters: Mapping[int, int]
) -> AnswerReasonScores:
    """Compute the AR-scores from the replies of a judge.

    Args:
        replies: (id of the request, reply); the reply is None if the request failed.
        clusters: the patient number of each question, by its id in the database.
    """
    scores: dict[int, dict[str, float]] = {}
    reply_counts: dict[int, int] = {}
    failed = unparseable = zero_references = 0
    for custom_id, reply in replies:
        number_text, _, order = custom_id.partition(" ")
        number = int(number_text)
        reply_counts[number] = reply_counts.get(number, 0) + 1
        if reply is None:
            failed += 1
            continue
        pair = parse_scores(reply, order)
        if pair is None:
            unparseable += 1
            continue
        score = compute_relative_score(pair)
        if score is None:
            zero_references += 1
            continue
        scores.setdefault(number, {})[order] = score
    complete = {number: values for number, values in scores.items() if len(values) == len(ORDERS)}
    numbers = sorted(complete)
    return AnswerReasonScores(
        values={number: sum(complete[number].values()) / len(ORDERS) for number in numbers},
        judged=sum(count == len(ORDERS) for count in reply_counts.values()),
        failed=failed,
        unparseable=unparseable,
        zero_references=zero_references,
        order_bias=mean_by_cluster(
            [complete[number][CANDIDATE_FIRST] - complete[number][REFERENCE_FIRST] for number in numbers],
            [clusters[number] for number in numbers],
        ),
    )


def calibrate_judge(judge: Mapping[int, float], experts: Mapping[int, float]) -> Calibration:
    """Compare a judge's AR-scores with those of experts, by question.

    Args:
        judge: the AR-scores of the judge, by the id of the question.
        experts: the AR-scores of the experts; with several experts, their mean.

    Source of the limits: Bland JM, Altman DG, Lancet 1986;1:307-310.

    >>> scores = {1: 40.0, 2: 80.0, 3: 100.0}
    >>> calibrate_judge(scores, scores).spearman
    1.0
    """
    common_numbers = sorted(judge.keys() & experts.keys())
    n = len(common_numbers)
    if n < 3:
        return Calibration(n=n, spearman=None, pearson=None, mean_difference=None, low=None, high=None)
    judge_scores = np.array([judge[number] for number in common_numbers])
    expert_scores = np.array([experts[number] for number in common_numbers])
    differences = judge_scores - expert_scores
    mean, half_width = float(differences.mean()), 1.96 * float(differences.std(ddof=1))
    both_vary = np.ptp(judge_scores) > 0 and np.ptp(expert_scores) > 0
    return Calibration(
        n=n,
        spearman=round(float(scipy.stats.spearmanr(judge_scores, expert_scores).statistic), 12)
        if both_vary
        else None,
        pearson=round(float(scipy.stats.pearsonr(judge_scores, expert_scores).statistic), 12)
        if both_vary
        else None,
        mean_difference=mean,
        low=mean - half_width,
        high=mean + half_width,
    )
