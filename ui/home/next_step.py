"""Derives the coordinator's next step from the state of the workspace."""

from __future__ import annotations

from dataclasses import dataclass

from domain.count_texts import count_text
from ui.home.workspace_state import WorkspaceState


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """The next step: the present situation, an instruction, the page to open, and the label of its button."""

    situation: str
    instruction: str
    page: str
    label: str


def find_next_step(workspace: WorkspaceState) -> NextStep:
    """Return the first step that is not done: import, draw, assign, review, adjudicate, release, study."""
    for find_step in (_find_data_step, _find_review_step, _find_result_step):
        step = find_step(workspace)
        if step is not None:
            return step
    return _find_study_step(workspace)


def _find_data_step(workspace: WorkspaceState) -> NextStep | None:
    if not workspace.questions:
        return NextStep(
            situation="There are no questions yet.",
            instruction="Import a question file and its radiographs.",
            page="pages/import_questions.py",
            label="Import questions",
        )
    return None


def _find_review_step(workspace: WorkspaceState) -> NextStep | None:
    if not workspace.batches:
        return NextStep(
            situation=f"{workspace.questions:,} questions imported; none drawn for review yet.",
            instruction=(
                "Draw a batch, for example 100 of every 1,000 questions, evenly across easy, medium and hard."
            ),
            page="pages/sampling.py",
            label="Draw a batch",
        )
    unassigned_batch = next(
        (overview for overview in workspace.open_batches if overview.requested < overview.questions), None
    )
    if unassigned_batch is not None:
        unassigned_count = unassigned_batch.questions - unassigned_batch.requested
        return NextStep(
            situation=(
                f"In batch {unassigned_batch.batch.name}, {count_text(unassigned_count, 'question')} "
                f"{'is' if unassigned_count == 1 else 'are'} unassigned."
            ),
            instruction="Assign them to one or more reviewers.",
            page="pages/assign.py",
            label="Assign questions",
        )
    judgements_left = sum(overview.left for overview in workspace.open_batches)
    skipped_count = sum(overview.skipped for overview in workspace.open_batches)
    if judgements_left:
        return NextStep(
            situation=(
                f"{count_text(judgements_left, 'judgement')} left to make"
                f"{f'; {skipped_count:,} skipped' if skipped_count else ''}."
            ),
            instruction="View their progress and the estimated finish.",
            page="pages/progress.py",
            label="View progress",
        )
    return None


def _find_result_step(workspace: WorkspaceState) -> NextStep | None:
    if workspace.open_disputes:
        disputes_text = count_text(workspace.open_disputes, "dispute")
        return NextStep(
            situation=f"All assigned questions are judged; {disputes_text} open.",
            instruction="Name an adjudicator for the batch, or wait for the adjudications.",
            page="pages/assign.py",
            label="View batches",
        )
    if not workspace.releases:
        return NextStep(
            situation="All assigned questions are judged.",
            instruction="Create a release of the accepted and corrected questions.",
            page="pages/releases.py",
            label="Create release",
        )
    return None


def _find_study_step(workspace: WorkspaceState) -> NextStep:
    if not workspace.studies:
        return NextStep(
            situation="A release exists, and no reader study.",
            instruction="Compare readers and models on the same cases, or draw another batch.",
            page="pages/studies.py",
            label="View reader studies",
        )
    unfinished_count = workspace.readers - workspace.readers_finished
    return NextStep(
        situation=(
            f"{count_text(unfinished_count, 'reader')} "
            f"{'has' if unfinished_count == 1 else 'have'} not finished."
            if unfinished_count
            else "All judgements are given, and all readers are finished."
        ),
        instruction="View the studies and their reports.",
        page="pages/studies.py",
        label="View reader studies",
    )
