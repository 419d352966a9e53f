"""Computes the power of designs that have no simple formula, by simulation: two arms, split cases, clusters.

Two arms. Each reader reads each case in both arms. Whether an answer is correct depends on a latent normal
variable. Its correlation is ``same_reader_correlation`` between the two arms of one reader,
``same_arm_correlation`` between two readers in one arm, and ``other_correlation`` between two readers in
different arms (Obuchowski and Rockette's three correlations, on the latent scale).

Split. Each case is read by ``readers_per_case`` of the readers, in balanced numbers.

Clusters. ``cases_per_patient`` cases belong to one patient. ``patient_correlation`` is the share of the
variance of difficulty that the cases of a patient have in common. The test is that of the report:
:func:`measures.mrmc.compare_differences`.

Sources: Obuchowski NA, Rockette HE, Commun Stat Simul 1995;24:285-308; Roe CA, Metz CE, Acad Radiol
1997;4:298-303 (latent model); Obuchowski NA, Acad Radiol 2009;16:764-771 (split-plot designs).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from domain.errors import InvalidValue
from measures.mrmc import compare_differences
from measures.power import PowerAssumptions, simulate_differences

#: The default number of simulated studies.
RUNS = 1000
#: The maximum number of cases that the search for a number of cases tries.
MAX_CASES = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingDesign:
    """How cases are divided among readers and grouped by patient.

    ``readers_per_case`` is None if each reader reads all cases. ``cases_per_patient`` is 1 or more.
    ``patient_correlation`` is 0 to 1.

    Raises:
        InvalidValue: a value is outside its range.
    """

    readers_per_case: int | None = None
    cases_per_patient: int = 1
    patient_correlation: float = 0.5

    def __post_init__(self) -> None:
        if self.readers_per_case is not None and self.readers_per_case < 1:
            raise InvalidValue("readers_per_case", f"must be 1 or more, not {self.readers_per_case}")
        if self.cases_per_patient < 1:
            raise InvalidValue("cases_per_patient", f"must be 1 or more, not {self.cases_per_patient}")
        if not 0 <= self.patient_correlation <= 1:
            raise InvalidValue("patient_correlation", f"must be 0 to 1, not {self.patient_correlation}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmAssumptions:
    """The assumptions about two arms of the same readers.

    ``first_accuracy`` is the mean accuracy in the arm that is tested (such as with an aid), and
    ``second_accuracy`` that of the other arm. ``spread`` is the standard deviation of the readers'
    accuracies, and ``arm_spread`` that of the interaction of reader and arm. With a ``margin`` above 0, the
    test is one of non-inferiority: the first arm is worse by less than the margin.

    Raises:
        InvalidValue: a value is outside its range, or the correlations contradict each other.
    """

    first_accuracy: float
    second_accuracy: float
    spread: float = 0.0
    arm_spread: float = 0.0
    same_reader_correlation: float = 0.6
    same_arm_correlation: float = 0.5
    other_correlation: float = 0.45
    margin: float = 0.0
    random_readers: bool = True
    alpha: float = 0.05

    def __post_init__(self) -> None:
        for field in ("first_accuracy", "second_accuracy"):
            if not 0 < getattr(self, field) < 1:
                raise InvalidValue(
                    field, f"must be between 0 and 1 (for example 0.8), not {getattr(self, field)}"
                )
        for field in ("spread", "arm_spread"):
            if not 0 <= getattr(self, field) <= 0.25:
                raise InvalidValue(
                    field, f"must be 0 to 0.25 (0.02 is 2 percentage points), not {getattr(self, field)}"
                )
        if not 0 <= self.margin < 0.5:
            raise InvalidValue("margin", f"must be at least 0 and below 0.5, not {self.margin}")
        if not 0 < self.alpha < 0.5:
            raise InvalidValue("alpha", f"must be between 0 and 0.5 (for example 0.05), not {self.alpha}")
        upper_limit = min(self.same_reader_correlation, self.same_arm_correlation)
        if not 0 <= self.other_correlation <= upper_limit or self.residual_variance < 0:
            raise InvalidValue(
                "other_correlation",
                f"{self.other_correlation} must be from 0 to the smaller of the other two correlations, and "
                "same_reader_correlation + same_arm_correlation - other_correlation must be at most 1",
            )

    @property
    def residual_variance(self) -> float:
        """The part of the latent variance that is specific to each answer."""
        return 1 - self.same_reader_correlation - self.same_arm_correlation + self.other_correlation


def power_of_design(
    assumptions: PowerAssumptions | ArmAssumptions,
    design: ReadingDesign,
    *,
    readers: int,
    cases: int,
    seed: int = 0,
    runs: int = RUNS,
) -> tuple[float, float]:
    """Estimate power as the share of simulated studies with a significant result.

    Args:
        assumptions: the assumptions about readers and model, or about two arms.
        design: the assignment of cases.
        readers: the number of readers; 2 or more if readers are random.
        cases: the number of cases, 2 or more.
        seed: the seed of the simulation.
        runs: the number of simulated studies, 1 or more.

    Returns:
        The power (0 to 1) and its standard error.

    Raises:
        InvalidValue: the number of readers or cases is outside its range.
    """
    if readers < (2 if assumptions.random_readers else 1):
        raise InvalidValue(
            "readers", f"must be {2 if assumptions.random_readers else 1} or more, not {readers}"
        )
    if cases < 2:
        raise InvalidValue("cases", f"must be 2 or more, not {cases}")
    if design.readers_per_case is not None and design.readers_per_case > readers:
        raise InvalidValue("readers_per_case", f"must be at most {readers}, not {design.readers_per_case}")
    random = np.random.default_rng(seed)
    patients = np.arange(cases) // design.cases_per_patient
    clusters = patients if design.cases_per_patient > 1 else None
    n_significant = 0
    for _ in range(runs):
        differences = _simulate(assumptions, design, random, readers=readers, patients=patients)
        result = compare_differences(
            differences,
            clusters=clusters,
            random_readers=assumptions.random_readers,
            confidence=1 - assumptions.alpha,
        )
        # a positive difference means that the model, or the first arm, is worse
        is_below = result.is_below(assumptions.margin)
        n_significant += bool(is_below or (assumptions.margin == 0 and result.is_above(0.0)))
    power = n_significant / runs
    return power, math.sqrt(power * (1 - power) / runs)


def cases_for_design(
    assumptions: PowerAssumptions | ArmAssumptions,
    design: ReadingDesign,
    *,
    readers: int,
    power: float = 0.8,
    seed: int = 0,
    runs: int = RUNS,
) -> int | None:
    """Find the number of cases for the given power, by simulation.

    Args:
        assumptions: the assumptions about readers and model, or about two arms.
        design: the assignment of cases.
        readers: the number of readers.
        power: the wanted power, above 0 and below 1.
        seed: the seed of the simulation, the same for each number of cases.
        runs: the number of simulated studies for each number of cases.

    Returns:
        The number of cases, rounded up to two significant digits because the simulation is not more precise;
        None if ``MAX_CASES`` do not suffice.

    Raises:
        InvalidValue: the power or the number of readers is outside its range.
    """
    if not 0 < power < 1:
        raise InvalidValue("power", f"must be between 0 and 1 (for example 0.8), not {power}")
    # The sum of the critical value and the quantile of the power grows with sqrt(number of cases).
    critical, wanted_quantile = scipy.special.ndtri(1 - assumptions.alpha / 2), scipy.special.ndtri(power)
    cases = 200
    power_by_cases: dict[int, float] = {}
    for _ in range(6):
        simulated, _ = power_of_design(
            assumptions, design, readers=readers, cases=cases, seed=seed, runs=runs
        )
        power_by_cases[cases] = simulated
        reached_quantile = scipy.special.ndtri(min(max(simulated, 0.02), 0.995))
        factor = ((critical + wanted_quantile) / max(0.3, critical + reached_quantile)) ** 2
        next_cases = min(MAX_CASES, max(10, round(cases * min(max(factor, 0.25), 4.0))))
        if next_cases in power_by_cases or abs(next_cases - cases) <= 0.03 * cases:
            break
        cases = next_cases
    sufficient = [count for count, value in power_by_cases.items() if value >= power - 0.02]
    if not sufficient:
        return None
    return _round_up(min(sufficient, key=lambda count: abs(power_by_cases[count] - power)))


def _round_up(cases: int) -> int:
    unit = int(10 ** max(0, len(str(cases)) - 2))
    return math.ceil(cases / unit) * unit


def _simulate(
    assumptions: PowerAssumptions | ArmAssumptions,
    design: ReadingDesign,
    random: np.random.Generator,
    *,
    readers: int,
    patients: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Simulate a study: readers minus model, or second arm minus first; shape (cases, readers)."""
    cases = len(patients)
    patient_loading = math.sqrt(design.patient_correlation) if design.cases_per_patient > 1 else 0.0

    def draw_difficulty() -> NDArray[np.float64]:
        case_difficulty = random.standard_normal(cases)
        patient_difficulty = random.standard_normal(int(patients[-1]) + 1)
        difficulty: NDArray[np.float64] = (
            patient_loading * patient_difficulty[patients]
            + math.sqrt(1 - patient_loading**2) * case_difficulty
        )
        return difficulty

    differences: NDArray[np.float64]
    if isinstance(assumptions, PowerAssumptions):
        [differences] = simulate_differences(
            assumptions, random, readers=readers, cases=cases, studies=1, difficulty=draw_difficulty()
        ).astype(np.float64)
    else:
        differences = _simulate_arms(assumptions, random, draw_difficulty, readers=readers, cases=cases)
    if design.readers_per_case is not None:
        # The readers of a case have consecutive numbers, modulo the number of readers, from a shuffled start.
        # So all readers read equally many cases.
        first_reader = random.permutation(np.arange(cases) * design.readers_per_case % readers)
        offset = (np.arange(readers)[None, :] - first_reader[:, None]) % readers
        differences[offset >= design.readers_per_case] = np.nan
    return differences


def _simulate_arms(
    assumptions: ArmAssumptions,
    random: np.random.Generator,
    draw_difficulty: Callable[[], NDArray[np.float64]],
    *,
    readers: int,
    cases: int,
) -> NDArray[np.float64]:
    base = assumptions.other_correlation
    latent = math.sqrt(base) * draw_difficulty()[None, :, None]
    by_arm = np.stack([draw_difficulty() for _ in range(2)])[:, :, None]
    latent = latent + math.sqrt(assumptions.same_arm_correlation - base) * by_arm
    latent = latent + math.sqrt(assumptions.same_reader_correlation - base) * random.standard_normal(
        (1, cases, readers)
    )
    latent = latent + math.sqrt(assumptions.residual_variance) * random.standard_normal((2, cases, readers))
    reader_effect = assumptions.spread * random.standard_normal((1, readers))
    accuracy = np.array([[assumptions.first_accuracy], [assumptions.second_accuracy]]) + reader_effect
    accuracy = accuracy + assumptions.arm_spread * random.standard_normal((2, readers))
    correct = latent < scipy.special.ndtri(np.clip(accuracy, 0.001, 0.999))[:, None, :]
    difference: NDArray[np.float64] = correct[1].astype(np.float64) - correct[0]
    return difference
