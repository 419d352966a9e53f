"""The order in which an expert of a prompt bench sees reports and outputs: random, and fixed by the seed."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from domain.prompt_bench import BenchCell, BenchScale

#: The names of outputs on screen. A bench has at most one version per letter.
LETTERS = "ABCDEF"


def order_reports(*, seed: int, person_id: int, reports: int) -> list[int]:
    """Return the positions of the reports, from 1, in the expert's order."""
    return [int(index) + 1 for index in np.random.default_rng([seed, person_id]).permutation(reports)]


def order_outputs(*, seed: int, person_id: int, report: int, versions: int) -> list[int]:
    """Return the positions of the versions, from 1, in the expert's order for one report: A first, then B."""
    order = np.random.default_rng([seed, person_id, report]).permutation(versions)
    return [int(index) + 1 for index in order]


def order_cells(
    *, seed: int, person_id: int, reports: int, versions: int, outputs: Collection[tuple[int, int]]
) -> list[BenchCell]:
    """Return all scores that an expert gives, in order: report by report, output by output, scale by scale.

    Args:
        seed: the seed of the bench.
        person_id: the expert.
        reports: the number of reports.
        versions: the number of versions.
        outputs: (report, version) of each usable output.
    """
    return [
        BenchCell(report=report, version=version, scale=scale)
        for report in order_reports(seed=seed, person_id=person_id, reports=reports)
        for version in order_outputs(seed=seed, person_id=person_id, report=report, versions=versions)
        if (report, version) in outputs
        for scale in BenchScale
    ]
