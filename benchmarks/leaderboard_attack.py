"""Simulates attacks on a leaderboard by a team with 200 submissions, with and without the Ladder.

A private split is drawn from a population of questions, two for each patient. The attacker's model knows half
of the questions (9 of 10 are right). On the other half it hesitates between two options, of which each is
right in half of the questions, so no choice is better than another. The attacker sees what the leaderboard
shows:

- hill climbing: change a tenth of the hesitant answers at random; keep it if the displayed score rises
- majority vote: submit random choices for all hesitant answers; at the end, submit the majority vote for each
  answer, in which choices with a displayed score below the first score count for the other option

The gain is the score on display at the end minus the accuracy of the final answers on a fresh private split
of the same population, in standard errors of a score.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from leaderboard.ladder import is_significant_gain

PER_PATIENT = 2
SUBMISSIONS = 200
_CHANGED_SHARE = 0.1
_KNOWN_ACCURACY = 0.9

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A private split. ``hesitant`` are the questions on which the model hesitates.

    The answers of the attacker are flags: whether a hesitant question gets the second of its two options.
    ``second_is_right`` is the key of these questions; ``known_is_right`` states which others are answered
    right.
    """

    hesitant: Flags
    second_is_right: Flags
    known_is_right: Flags

    def mark(self, takes_second: Flags) -> Flags:
        """Return whether each question is answered correctly."""
        return np.where(self.hesitant, takes_second == self.second_is_right, self.known_is_right)


def draw_split(random: np.random.Generator, *, questions: int) -> Split:
    patient_effect = np.repeat(random.normal(0, 0.1, questions // PER_PATIENT), PER_PATIENT)
    return Split(
        hesitant=random.random(questions) < 0.5,
        second_is_right=random.random(questions) < 0.5,
        known_is_right=random.random(questions) < _KNOWN_ACCURACY + patient_effect,
    )


class Board(Protocol):
    """A leaderboard of one team: what it shows after a submission."""

    shown: float

    def submit(self, answers: Flags) -> float: ...


class OpenBoard:
    """Shows the score of each submission."""

    def __init__(self, split: Split) -> None:
        self._split, self.shown = split, 0.0

    def submit(self, answers: Flags) -> float:
        score = float(self._split.mark(answers).mean())
        self.shown = max(self.shown, score)
        return score


class LadderBoard:
    """Shows the last score that was a significant gain: the rule of this project."""

    def __init__(self, split: Split) -> None:
        self._split, self.shown = split, 0.0
        self._displayed: Flags | None = None
        self._clusters = np.arange(len(split.hesitant)) // PER_PATIENT

    def submit(self, answers: Flags) -> float:
        correct = self._split.mark(answers)
        if self._displayed is None or self._is_gain(correct, self._displayed):
            self._displayed, self.shown = correct, float(correct.mean())
        return self.shown

    def _is_gain(self, correct: Flags, displayed: Flags) -> bool:
        return is_significant_gain(correct, displayed, clusters=self._clusters, total_quota=SUBMISSIONS)


class OneErrorLadderBoard(LadderBoard):
    """Uses the parameter-free step of Blum and Hardt: one standard error of the difference."""

    def _is_gain(self, correct: Flags, displayed: Flags) -> bool:
        differences = correct.astype(np.float64) - displayed
        return bool(differences.mean() > differences.std(ddof=1) / math.sqrt(len(differences)))


def climb(board: Board, questions: int, random: np.random.Generator) -> Flags:
    """Attack by hill climbing; return the final answers."""
    best = random.random(questions) < 0.5
    best_score = board.submit(best)
    for _ in range(SUBMISSIONS - 1):
        candidate = best ^ (random.random(questions) < _CHANGED_SHARE)
        score = board.submit(candidate)
        if score > best_score:
            best, best_score = candidate, score
    return best


def vote(board: Board, questions: int, random: np.random.Generator) -> Flags:
    """Attack by majority vote: choices scored above the first count for their options, lower ones against."""
    final = random.random(questions) < 0.5
    first_score = board.submit(final)
    votes = np.where(final, 0.5, -0.5)  # decides if there is no vote, or a tie
    for _ in range(SUBMISSIONS - 2):
        candidate = random.random(questions) < 0.5
        score = board.submit(candidate)
        if score != first_score:
            votes += np.where(candidate, 1, -1) * (1 if score > first_score else -1)
    final = votes > 0
    board.submit(final)
    return final


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The mean gain over repetitions, in standard errors of a score, and the standard error of that mean.

    ``fresh`` is the mean accuracy of the final answers on the fresh split, ``shown`` the mean score on
    display.
    """

    mean: float
    error: float
    shown: float
    fresh: float


ATTACKS: dict[str, Callable[[Board, int, np.random.Generator], Flags]] = {
    "hill climbing": climb,
    "majority vote": vote,
}
BOARDS: dict[str, Callable[[Split], Board]] = {
    "unprotected": OpenBoard,
    "Ladder, step of one standard error": OneErrorLadderBoard,
    "Ladder, exact test at 0.05 / 200": LadderBoard,
}


def measure_gain(
    board_type: Callable[[Split], Board],
    attack: Callable[[Board, int, np.random.Generator], Flags],
    *,
    questions: int,
    repetitions: int,
    seed: int = 1,
) -> Gain:
    """Attack a new private split in each repetition, and score the final answers on a fresh one."""
    random = np.random.default_rng(seed)
    gains, shown, fresh = [], [], []
    for _ in range(repetitions):
        board = board_type(draw_split(random, questions=questions))
        final = attack(board, questions, random)
        score = float(draw_split(random, questions=questions).mark(final).mean())
        error = math.sqrt(board.shown * (1 - board.shown) / questions)
        gains.append((board.shown - score) / error)
        shown.append(board.shown)
        fresh.append(score)
    return Gain(
        mean=float(np.mean(gains)),
        error=float(np.std(gains, ddof=1) / math.sqrt(repetitions)),
        shown=float(np.mean(shown)),
        fresh=float(np.mean(fresh)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print(
        f"{args.questions:,} private questions of {args.questions // PER_PATIENT:,} patients, "
        f"{SUBMISSIONS} submissions, {args.repetitions} repetitions, seed {args.seed}"
    )
    for attack_name, attack in ATTACKS.items():
        for board_name, board_type in BOARDS.items():
            gain = measure_gain(
                board_type, attack, questions=args.questions, repetitions=args.repetitions, seed=args.seed
            )
            print(
                f"{attack_name:14} {board_name:36} displayed {gain.shown:.2%}, fresh split {gain.fresh:.2%}, "
                f"gain {gain.mean:+.2f} ± {gain.error:.2f} standard errors of a score"
            )


if __name__ == "__main__":
    main()
