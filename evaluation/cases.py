"""The cases of each condition: questions, orders of options, and other patients' radiographs.

All draws depend only on the seed and the ids of question and exam, so a plan with the same seed has the same
cases.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from domain.evaluations import Condition, EvaluatedExam, EvaluationCase
from domain.questions import Question
from reader_study.permutations import shuffle_items

#: Reasons why a question has no case in a condition.
NO_IMAGE_FILE = "a radiograph is not in the workspace"
IMAGE_REMOVED = "a radiograph was removed because of patient text"
NO_OTHER_PATIENT = "no other patient with the same views"
NO_OPTIONS = "the question has no options"
#: Draws of another exam before the pool is searched in order, for pools with hardly any other patient.
_MAX_DRAWS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedQuestion:
    """A question of a release with its key, its id in the database, and its exam."""

    number: int
    question: Question
    exam: EvaluatedExam


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionCases:
    """The cases of one condition, and the number of excluded questions by reason."""

    cases: tuple[EvaluationCase, ...]
    excluded: dict[str, int]


def choose_cases(
    questions: Sequence[EvaluatedQuestion],
    condition: Condition,
    *,
    seed: int,
    removed_images: Collection[str] = frozenset(),
) -> ConditionCases:
    """Choose the cases of a condition.

    Args:
        questions: the questions of one split of a release.
        condition: any condition except "paraphrased", whose stems come from a model.
        seed: the seed of the plan.
        removed_images: SHA-256 of images that must not be shown.

    Raises:
        ValueError: the condition is "paraphrased".
    """
    if condition is Condition.PARAPHRASED:
        raise ValueError("the cases of this condition depend on replies of a model")
    excluded: Counter[str] = Counter()
    image_problems = {item.exam.number: _find_image_problem(item.exam, removed_images) for item in questions}
    pools = _group_by_views(item.exam for item in questions if image_problems[item.exam.number] is None)
    cases = []
    for item in questions:
        problem = image_problems[item.exam.number] if condition.shows_images else None
        permutation: tuple[int, ...] | None = None
        other_exam: EvaluatedExam | None = None
        if problem is None and condition is Condition.SHUFFLED:
            if len(item.question.options) < 2:
                problem = NO_OPTIONS
            else:
                permutation = shuffle_options(item.question, seed=seed)
        if problem is None and condition is Condition.OTHER_IMAGE:
            other_exam = draw_other_exam(item, pools[item.exam.views], seed=seed)
            problem = None if other_exam else NO_OTHER_PATIENT
        if problem is not None:
            excluded[problem] += 1
            continue
        cases.append(
            EvaluationCase(
                question_row_id=item.number,
                permutation=permutation,
                other_exam=other_exam.number if other_exam else None,
            )
        )
    return ConditionCases(cases=tuple(cases), excluded=dict(sorted(excluded.items())))


def shuffle_options(question: Question, *, seed: int) -> tuple[int, ...]:
    """Return an order of the options that differs from that of the release, as indices into the options.

    All other orders are about equally likely.
    """
    count = len(question.options)
    unchanged = list(range(count))
    attempt = 0
    while (
        order := shuffle_items(unchanged, seed=seed, purpose=f"options {question.id} {attempt}")
    ) == unchanged:
        attempt += 1
    return tuple(order)


def draw_other_exam(
    item: EvaluatedQuestion, pool: Sequence[EvaluatedExam], *, seed: int
) -> EvaluatedExam | None:
    """Draw an exam of another patient without a radiograph of the question's exam; None if there is none.

    Args:
        item: the question.
        pool: exams with the same views, in any fixed order.
        seed: the seed of the plan.
    """
    own_images = {radiograph.sha256 for radiograph in item.exam.radiographs}

    def is_other(exam: EvaluatedExam) -> bool:
        return exam.cluster != item.exam.cluster and own_images.isdisjoint(
            radiograph.sha256 for radiograph in exam.radiographs
        )

    # A draw of the question's own patient is repeated, so that all other exams are equally likely.
    for attempt in range(_MAX_DRAWS if pool else 0):
        draw_key = f"{seed}\x1fother exam\x1f{item.question.id}\x1f{attempt}"
        digest = hashlib.blake2b(draw_key.encode(), digest_size=8).digest()
        exam = pool[int.from_bytes(digest, "big") % len(pool)]
        if is_other(exam):
            return exam
    return next(filter(is_other, pool), None)


def _find_image_problem(exam: EvaluatedExam, removed_images: Collection[str]) -> str | None:
    if any(radiograph.sha256 is None for radiograph in exam.radiographs):
        return NO_IMAGE_FILE
    if any(radiograph.sha256 in removed_images for radiograph in exam.radiographs):
        return IMAGE_REMOVED
    return None


def _group_by_views(exams: Iterable[EvaluatedExam]) -> Mapping[tuple[str, ...], list[EvaluatedExam]]:
    """Group exams by their views, each exam once, in the order of their ids."""
    groups: defaultdict[tuple[str, ...], list[EvaluatedExam]] = defaultdict(list)
    for exam in sorted({exam.number: exam for exam in exams}.values(), key=lambda exam: exam.id):
        groups[exam.views].append(exam)
    return groups
