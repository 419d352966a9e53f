"""BLEU-1 and ROUGE-L between a model's text and a reference text.

BLEU is a corpus measure: the counts of all texts are summed before they are divided, so its value is not a
mean over texts. Counts and values are those of sacrebleu, whose tokenizer is used. ROUGE-L is the F measure
of the longest common subsequence of one text, and its mean over texts is reported. Both are 0 to 1 here;
papers print them multiplied by 100.

Edge cases. A corpus without a common word, or without a word, has a BLEU of 0. A text without a word has a
ROUGE-L of 0.

Sources: Papineni K et al., ACL 2002, 311-318; Post M, WMT 2018, 186-191 (sacrebleu); Lin CY, Text
Summarization Branches Out, 2004, 74-81.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version

import numpy as np
import scipy
from numpy.typing import NDArray

from measures.cluster_groups import ClusterGroups
from measures.proportions import CONFIDENCE

#: The signature of ROUGE-L; its values are those of the package rouge-score without stemming.
ROUGE_SIGNATURE = "ROUGE-L|f:1|stem:no|tok:rouge_score-0.1.2|impl:overread/1"
_NOT_A_WORD = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class BleuCounts:
    """The counts of one text: words in common (clipped), words of the candidate, words of the reference."""

    common: int
    candidate: int
    reference: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BleuResult:
    """BLEU-1 of ``n`` texts, 0 to 1, with its interval.

    If a value is None, ``note`` gives the reason.
    """

    n: int
    estimate: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


def describe_bleu() -> str:
    """Return the signature of BLEU-1 in sacrebleu's format, preceded by the name with the order."""
    return f"BLEU-1|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{version('sacrebleu')}"


def count_bleu(candidate: str, reference: str) -> BleuCounts:
    """Count the words of a candidate and a reference, and those in common.

    >>> count_bleu("No pleural effusion.", "There is no pleural effusion.")
    BleuCounts(common=3, candidate=4, reference=6)
    """
    tokenize = _load_tokenizer()
    candidate_words, reference_words = (
        tokenize(candidate.strip()).split(),
        tokenize(reference.strip()).split(),
    )
    common = Counter(candidate_words) & Counter(reference_words)
    return BleuCounts(common=common.total(), candidate=len(candidate_words), reference=len(reference_words))


def bleu1(
    common: NDArray[np.int64],
    candidate: NDArray[np.int64],
    reference: NDArray[np.int64],
    clusters: NDArray[np.int64],
    *,
    confidence: float = CONFIDENCE,
) -> BleuResult:
    """Compute BLEU-1 of a corpus, with an interval clustered by exam or patient.

    The interval is Student's for the logarithm of BLEU, from the influence of each cluster on it
    (linearization). There is none for a single cluster, or if BLEU is 0.

    Args:
        common: the counts :attr:`BleuCounts.common` of each text, shape (n,).
        candidate: the words of each candidate, shape (n,).
        reference: the words of each reference, shape (n,).
        clusters: the exam or patient number of each text, shape (n,).
        confidence: the confidence level of the interval.

    Returns:
        BLEU-1, 0 to 1; not defined without a text.

    Source of the interval: Wolter KM, Introduction to Variance Estimation, 2nd ed., 2007, ch. 6.

    >>> one = np.array([3]), np.array([4]), np.array([4]), np.array([0])
    >>> round(bleu1(*one).estimate, 3)
    0.75
    """
    one_group = ClusterGroups(
        clusters=np.asarray(clusters), groups=np.zeros(len(common), dtype=np.int64), count=1
    )
    [[result]] = bleu_by_group(
        common[:, np.newaxis], candidate[:, np.newaxis], reference[:, np.newaxis], one_group,
        confidence=confidence,
    )  # fmt: skip
    return result


def bleu_by_group(
    common: NDArray[np.integer],
    candidate: NDArray[np.integer],
    reference: NDArray[np.integer],
    groups: ClusterGroups,
    *,
    confidence: float = CONFIDENCE,
) -> list[list[BleuResult]]:
    """Compute :func:`bleu1` of each column in each group; a text with negative counts is left out.

    Args:
        common: the counts :attr:`BleuCounts.common` of each text and column, shape (q, m).
        candidate: the words of each candidate, shape (q, m).
        reference: the words of each reference, shape (q, m).
        groups: the groups and clusters of the texts.
        confidence: the confidence level of the intervals.

    Returns:
        The results by group and column.
    """
    is_known = candidate >= 0
    part_n = groups.sum_by_part(is_known)
    parts = [groups.sum_by_part(np.where(is_known, counts, 0)) for counts in (common, candidate, reference)]
    totals = [groups.sum_by_group(part) for part in parts]
    inverse_common, inverse_candidate = (
        np.divide(1.0, total, out=np.zeros_like(total), where=total > 0) for total in totals[:2]
    )
    # log BLEU = log(common) - log(candidate) + min(0, 1 - reference / candidate)
    influence = parts[0] * groups.repeat_by_part(inverse_common) - parts[1] * groups.repeat_by_part(
        inverse_candidate
    )
    is_short = totals[1] < totals[2]
    slope = np.where(is_short, totals[2] * inverse_candidate**2, 0.0)
    influence += parts[1] * groups.repeat_by_part(slope)
    influence -= parts[2] * groups.repeat_by_part(np.where(is_short, inverse_candidate, 0.0))
    n, clusters = groups.sum_by_group(part_n), groups.sum_by_group(part_n > 0)
    squares = groups.sum_by_group(influence**2)
    return [
        [
            _build_bleu(
                int(n[g, m]), [int(total[g, m]) for total in totals], clusters=int(clusters[g, m]),
                squares=float(squares[g, m]), confidence=confidence,
            )
            for m in range(common.shape[1])
        ]
        for g in range(groups.count)
    ]  # fmt: skip


def _build_bleu(
    n: int, totals: Sequence[int], *, clusters: int, squares: float, confidence: float
) -> BleuResult:
    """Build a result from the totals of words and the sum over clusters of their squared influence."""
    if n == 0:
        return BleuResult(n=0, estimate=None, note="not defined: no texts")
    estimate = _compute_bleu(*totals)
    if estimate == 0 or clusters < 2:
        note = "no interval: no word in common" if estimate == 0 else "no interval: one patient or exam only"
        return BleuResult(n=n, estimate=estimate, note=note)
    error = math.sqrt(clusters / (clusters - 1) * squares)
    if error < 1e-12:
        return BleuResult(n=n, estimate=estimate, note="no interval: all texts have the same value")
    half_width = float(scipy.special.stdtrit(clusters - 1, 0.5 + confidence / 2)) * error
    return BleuResult(
        n=n,
        estimate=estimate,
        low=estimate * math.exp(-half_width),
        high=min(1.0, estimate * math.exp(half_width)),
    )


def rouge_l(candidate: str, reference: str) -> float:
    """Compute ROUGE-L (F measure, 0 to 1) of a candidate and a reference, without stemming.

    Words are runs of a-z and 0-9 in lower case, as in the package rouge-score.

    >>> round(rouge_l("The heart is enlarged.", "the heart is not enlarged"), 4)
    0.8889
    """
    candidate_words, reference_words = _split_words(candidate), _split_words(reference)
    common = _count_common_subsequence(candidate_words, reference_words)
    if common == 0:
        return 0.0
    precision, recall = common / len(candidate_words), common / len(reference_words)
    return 2 * precision * recall / (precision + recall)


def _compute_bleu(common: int, candidate: int, reference: int) -> float:
    """Compute precision times brevity penalty; sacrebleu's function takes ten times as long."""
    if common == 0:
        return 0.0
    return common / candidate * math.exp(min(0.0, 1 - reference / candidate))


@cache
def _load_tokenizer() -> Callable[[str], str]:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a  # noqa: PLC0415 - takes half a second; pages that show scores do not need it

    tokenizer: Callable[[str], str] = Tokenizer13a()  # type: ignore[no-untyped-call]  # it has no types
    return tokenizer


def _split_words(text: str) -> list[str]:
    return [word for word in _NOT_A_WORD.split(text.lower()) if word]


def _count_common_subsequence(first: list[str], second: list[str]) -> int:
    """Return the length of the longest common subsequence, with one bit per word of ``first``.

    Source: Hyyrö H, Bit-parallel LCS-length computation revisited, AWOCA 2004.
    """
    positions: dict[str, int] = {}
    for index, word in enumerate(first):
        positions[word] = positions.get(word, 0) | 1 << index
    unmatched = all_bits = (1 << len(first)) - 1
    for word in second:
        matches = unmatched & positions.get(word, 0)
        unmatched = ((unmatched + matches) | (unmatched - matches)) & all_bits
    return len(first) - unmatched.bit_count()
