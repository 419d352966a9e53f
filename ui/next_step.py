"""The coordinator's next step, derived from the present state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.batches import BatchState
from domain.count_texts import count_text
from review.service import BatchOverview


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """A sentence on the present state, a sentence on the next step, and the page for it."""

    situation: str
    instruction: str
    page: str
    label: str


def find_next_step(datasets: Mapping[str, int], batches: Sequence[BatchOverview]) -> NextStep:
    """Return the first step that is missing for a release: import, draw, assign, wait, release.

    Args:
        datasets: number of questions by dataset.
        batches: all batches, open and closed.
    """
    if not any(datasets.values()):
        return NextStep(
            situation="There are no questions yet.",
            instruction="Import a question file and its radiographs.",
            page="pages/import_questions.py",
            label="Import questions",
        )
    if not batches:
        return NextStep(
            situation=f"{sum(datasets.values()):,} questions imported; none drawn for review yet.",
            instruction=(
                "Draw a batch, for example 100 of every 1,000 questions, evenly across easy, medium and hard."
            ),
            page="pages/sampling.py",
            label="Draw a batch",
        )
    open_batches = [overview for overview in batches if overview.batch.state is BatchState.OPEN]
    unassigned_batch = next(
        (overview for overview in open_batches if overview.requested < overview.questions), None
    )
    if unassigned_batch is not None:
        number = unassigned_batch.questions - unassigned_batch.requested
        return NextStep(
            situation=f"In batch {unassigned_batch.batch.name}, {_format_questions(number)} unassigned.",
            instruction="Assign them to one or more reviewers.",
            page="pages/assign.py",
            label="Assign questions",
        )
    questions_left = sum(overview.left for overview in open_batches)
    if questions_left:
        return NextStep(
            situation=f"The reviewers have {count_text(questions_left, 'judgement')} left.",
            instruction="View their progress and the estimated finish.",
            page="pages/progress.py",
            label="View progress",
        )
    return NextStep(
        situation="All assigned questions are judged.",
        instruction="Create a release of the accepted and corrected questions.",
        page="pages/releases.py",
        label="Create release",
    )


def _format_questions(number: int) -> str:
    return "1 question is" if number == 1 else f"{number:,} questions are"
