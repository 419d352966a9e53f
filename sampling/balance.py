"""Selects exams for a test set: a fixed share of healthy exams, and the others divided evenly among findings.

GEMeX selected its test set by disease and kept 12.48 % healthy exams (Liu et al., appendix 7.4). An exam with
several findings is assigned to its rarest finding, so that it is not selected for a common one.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from domain.batches import ExamBalance
from domain.count_texts import count_text
from domain.errors import Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamFindings:
    """An exam with its findings.

    An exam whose report states neither is not healthy and has no findings.
    """

    number: int
    exam: str
    findings: frozenset[str]
    is_healthy: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BalancedSelection:
    """The row ids of the selected exams, the number of healthy exams, and the number of exams by finding."""

    numbers: tuple[int, ...]
    healthy: int
    by_finding: tuple[tuple[str, int], ...]


def select_balanced_exams(
    exams: Sequence[ExamFindings], balance: ExamBalance, *, seed: int
) -> BalancedSelection:
    """Select exams. The result depends on the seed, the exams and their findings, not on their order.

    Args:
        exams: the exams that may be selected.
        balance: the number of exams and the share of healthy ones.
        seed: the seed.

    Raises:
        Refused: there are too few healthy exams, or too few with findings.
    """
    healthy = [exam for exam in exams if exam.is_healthy]
    with_findings = [exam for exam in exams if exam.findings]
    n_with_findings = balance.exams - balance.healthy_exams
    if len(healthy) < balance.healthy_exams or len(with_findings) < n_with_findings:
        raise Refused(
            f"The selection needs {count_text(balance.healthy_exams, 'healthy exam')} and "
            f"{n_with_findings:,} with findings, but the reports state "
            f"{count_text(len(healthy), 'healthy exam')} and {len(with_findings):,} with findings "
            f"(of {count_text(len(exams), 'exam')}). Choose fewer exams or another share."
        )
    frequency = Counter(finding for exam in with_findings for finding in exam.findings)
    strata = defaultdict[str, list[ExamFindings]](list)
    for exam in with_findings:
        strata[min(exam.findings, key=lambda finding: (frequency[finding], finding))].append(exam)
    counts = allocate_evenly(n_with_findings, sizes={name: len(members) for name, members in strata.items()})
    chosen = _take_lowest(healthy, balance.healthy_exams, seed=seed)
    for name, members in strata.items():
        chosen += _take_lowest(members, counts[name], seed=seed)
    return BalancedSelection(
        numbers=tuple(sorted(exam.number for exam in chosen)),
        healthy=balance.healthy_exams,
        by_finding=tuple(
            sorted(
                ((name, count) for name, count in counts.items() if count),
                key=lambda pair: (-pair[1], pair[0]),
            )
        ),
    )


def allocate_evenly(n: int, *, sizes: dict[str, int]) -> dict[str, int]:
    """Divide ``n`` among strata as evenly as their sizes allow; the larger strata get the remainder.

    >>> allocate_evenly(10, sizes={"a": 1, "b": 9, "c": 20})
    {'a': 1, 'b': 4, 'c': 5}
    """
    counts, remaining = dict[str, int](), n
    by_size = sorted(sizes, key=lambda name: (sizes[name], name))
    for index, name in enumerate(by_size):
        counts[name] = min(sizes[name], remaining // (len(by_size) - index))
        remaining -= counts[name]
    return {name: counts[name] for name in sizes}


def _take_lowest(exams: Sequence[ExamFindings], n: int, *, seed: int) -> list[ExamFindings]:
    """Take the exams with the lowest hashes of seed and id."""

    def hash_exam(exam: ExamFindings) -> bytes:
        return hashlib.sha256(f"overread.balance/1\0{seed}\0{exam.exam}".encode()).digest()

    return sorted(exams, key=hash_exam)[:n]
