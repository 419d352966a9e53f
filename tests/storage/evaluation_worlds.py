"""A released dataset with coded radiographs, for evaluations of models."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, update

from accounts.service import command_line_person
from domain.evaluations import Condition, Evaluation, ImageSize
from domain.language_models import DataUse, Endpoint
from evaluation import service as evaluations
from language_models import service as models
from release.splits import Split, SplitPlan
from storage.engine import make_engine
from storage.images.files import store_image
from storage.rows.datasets import ImageRow, QuestionRow, RadiographRow
from storage.rows.releases import ReleaseRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.backup_worlds import make_workspace
from tests.storage.judgements import make_acceptance, save_verdict
from tests.storage.release_helpers import create_release
from tests.storage.vision_server import FINDINGS, VIEWS, VISION_MODEL, draw_coded_image
from tests.storage.worlds import NOW, make_world

BY = command_line_person()
#: The conditions that need no paraphrases.
CONDITIONS_WITHOUT_PARAPHRASES = tuple(
    condition for condition in Condition if condition is not Condition.PARAPHRASED
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationWorld:
    """A workspace with images and the release "v1"."""

    engine: Engine
    home: Path


def key_of_exam(exam: int) -> int:
    """The index of the correct option of the questions of an exam."""
    return exam % len(FINDINGS)


def make_evaluation_world(
    engine: Engine,
    home: Path,
    *,
    questions: int = 12,
    private: float | None = None,
    values: Sequence[dict[str, str]] = (),
) -> EvaluationWorld:
    """Make 12 questions on 6 exams with a PA and a lateral radiograph each, all accepted and released.

    The findings of the images follow the key of their exam: exam i has option i % 3. The report of every exam
    contains a sentence that no model may see. ``values`` replaces columns of the questions, in their order.
    """
    world = make_world(engine, questions=questions, assigned_to=("ruth",))
    workspace = make_workspace(engine, home)
    with unit_of_work(engine) as db:
        for exam in world.exams:
            finding = FINDINGS[key_of_exam(exam)]
            db.execute(
                update(QuestionRow)
                .where(QuestionRow.exam_id == exam)
                .values(answer=f"[{key_of_exam(exam)}]", boxes="[]")
            )
            for view in VIEWS:
                content = draw_coded_image(exam=exam, view=view, finding=finding)
                sha256 = store_image(workspace, content=content)
                db.add(
                    ImageRow(
                        sha256=sha256, media_type="image/png", bytes=len(content), rows=96, columns=256,
                        bits=8, photometric="MONOCHROME2",
                    )
                )  # fmt: skip
                db.flush()
                db.execute(
                    update(RadiographRow)
                    .where(RadiographRow.exam_id == exam, RadiographRow.key == view.lower())
                    .values(image_sha256=sha256)
                )
        for question, columns in zip(world.questions, values, strict=False):
            db.execute(update(QuestionRow).where(QuestionRow.id == question).values(**columns))
    for question in world.questions:
        save_verdict(world, make_acceptance(world, question=question))
    with unit_of_work(engine) as db:
        create_release(
            db, by=BY, dataset="demo", name="v1", out=home / "releases" / "v1", workspace=workspace, now=NOW,
            split=SplitPlan(private_share=private, seed=1) if private else None,
        )  # fmt: skip
    return EvaluationWorld(engine=engine, home=home)


def copy_evaluation_world(template: EvaluationWorld, home: Path) -> EvaluationWorld:
    """Copy a workspace whose database is SQLite."""
    shutil.copytree(template.home, home)
    database = home / "overread.sqlite"
    with (
        closing(sqlite3.connect(template.engine.url.database)) as source,
        closing(sqlite3.connect(database)) as target,
    ):
        source.backup(target)
    engine = make_engine(f"sqlite:///{database}")
    with unit_of_work(engine) as db:
        db.execute(update(ReleaseRow).values(folder=str(home / "releases" / "v1")))
    return EvaluationWorld(engine=engine, home=home)


def add_vision_endpoint(
    engine: Engine, url: str, *, accepts_images: bool = True, model: str = VISION_MODEL
) -> Endpoint:
    """Add the endpoint "vision"."""
    endpoint = Endpoint(
        name="vision", url=url, model=model, data_use=DataUse.LOCAL, accepts_images=accepts_images,
        timeout_seconds=60, max_parallel=4,
    )  # fmt: skip
    with unit_of_work(engine) as db:
        return models.save_endpoint(db, by=BY, endpoint=endpoint, now=NOW)


def make_settings(**changes: Any) -> evaluations.PlanSettings:
    """Settings of the evaluation "qwen" in all conditions but the paraphrased one."""
    fields: dict[str, Any] = {
        "name": "qwen",
        "dataset": "demo",
        "release": "v1",
        "split": Split.PUBLIC,
        "conditions": CONDITIONS_WITHOUT_PARAPHRASES,
        "image_size": ImageSize.QUARTER,
        "seed": 3,
    }
    return evaluations.PlanSettings(**(fields | changes))


def plan(engine: Engine, **changes: Any) -> Evaluation:
    """Plan an evaluation with the endpoint "vision"."""
    with unit_of_work(engine) as db:
        return evaluations.plan_with_endpoint(
            db, by=BY, settings=make_settings(**changes), endpoint="vision", now=NOW
        )


def load_results(engine: Engine, name: str = "qwen"):
    """The results of an evaluation of the public split."""
    with read_only_session(engine) as db:
        return evaluations.open_results(db, by=BY, name=name, now=NOW)[1]
