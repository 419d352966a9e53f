"""The coordinator's next step in a workspace whose review is done."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from domain.batches import Batch, BatchSettings, BatchState, SamplingPlan
from quality.service import DatasetProblems
from reader_study.service import StudyReaders
from release.service import ReleaseRecord
from review.service import BatchOverview
from ui.home.next_step import find_next_step
from ui.home.workspace_state import WorkspaceState

NOW = datetime(2026, 3, 2, tzinfo=UTC)
BATCH = Batch(
    id=1,
    name="first",
    dataset_id=1,
    plan=SamplingPlan(seed=1, per_1000=None, n=5),
    settings=BatchSettings(),
    state=BatchState.OPEN,
    revision=1,
    created_at=NOW,
)
OVERVIEW = BatchOverview(batch=BATCH, dataset="demo", questions=5, requested=5, done=5, skipped=0, left=0)
RELEASE = ReleaseRecord(
    id=1,
    dataset="demo",
    name="v1",
    items=5,
    manifest_sha256="0" * 64,
    folder=Path("v1"),
    made_by="Cora",
    made_at=NOW,
)
JUDGED = WorkspaceState(
    datasets=(DatasetProblems(name="demo", questions=5, with_problems=0),),
    batches=(OVERVIEW,),
    open_disputes=0,
    releases=(),
    studies=(),
)


@pytest.mark.parametrize(
    ("changes", "page", "situation"),
    [
        ({}, "pages/releases.py", "All assigned questions are judged."),
        ({"open_disputes": 1}, "pages/assign.py", "All assigned questions are judged; 1 dispute open."),
        ({"releases": (RELEASE,)}, "pages/studies.py", "A release exists, and no reader study."),
        (
            {"releases": (RELEASE,), "studies": (StudyReaders(name="s", readers=3, finished=2),)},
            "pages/studies.py",
            "1 reader has not finished.",
        ),
        (
            {"releases": (RELEASE,), "studies": (StudyReaders(name="s", readers=3, finished=3),)},
            "pages/studies.py",
            "All judgements are given, and all readers are finished.",
        ),
    ],
)
def test_next_step_after_review(changes, page, situation):
    step = find_next_step(replace(JUDGED, **changes))
    assert (step.page, step.situation) == (page, situation)


def test_the_next_step_does_not_wait_for_a_closed_batch():
    closed_batch = replace(BATCH, state=BatchState.CLOSED)
    workspace = replace(JUDGED, batches=(replace(OVERVIEW, batch=closed_batch, done=2, left=3),))
    assert find_next_step(workspace).page == "pages/releases.py"
