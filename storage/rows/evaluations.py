"""Tables of evaluations of models on a release."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, UniqueConstraint
from sqlmodel import Field

from storage.rows import (  # noqa: F401 - registers the table of the foreign key
    datasets,
    language_models,
    people,
    releases,
    studies,
)
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class EvaluationRow(TableRow, table=True):
    """An evaluation of one model on one split of a release; append-only by trigger."""

    __tablename__ = "evaluation"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    release_id: int = Field(foreign_key="release.id")
    split: str
    answered_by: str
    model: str
    is_test_model: bool
    prompt_id: int | None = Field(default=None, foreign_key="prompt_version.id")
    image_size: str
    seed: int
    created_by: int | None = Field(default=None, foreign_key="person.id")
    created_at: datetime = Field(sa_type=UtcDateTime)


class EvaluationRunRow(TableRow, table=True):
    """One condition of an evaluation; append-only by trigger. Its answers are the predictions of its model.

    ``excluded`` is JSON: the number of questions of the split without a case, by reason.
    """

    __tablename__ = "evaluation_run"
    __table_args__ = (UniqueConstraint("evaluation_id", "condition"),)

    id: int | None = Field(default=None, primary_key=True)
    evaluation_id: int = Field(foreign_key="evaluation.id")
    condition: str
    model_id: int = Field(foreign_key="model.id", unique=True)
    model_run_id: int | None = Field(default=None, foreign_key="model_run.id")
    cases: int
    excluded: str = "{}"


class EvaluationCaseRow(TableRow, table=True):
    """A question in one condition, as ``domain.evaluations.EvaluationCase``; append-only by trigger.

    ``permutation`` is a JSON list.
    """

    __tablename__ = "evaluation_case"

    run_id: int = Field(foreign_key="evaluation_run.id", primary_key=True)
    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False)
    )
    permutation: str | None = None
    other_exam_id: int | None = Field(
        default=None, sa_column=Column(BigKey, ForeignKey("exam.id"), nullable=True)
    )
    stem: str | None = None


class ScoreColumnRow(TableRow, table=True):
    """An external score of the answers in the condition "as given"; append-only by trigger.

    The highest revision applies. ``scores`` is JSON: a list of pairs of a question's id and its score.
    """

    __tablename__ = "score_column"
    __table_args__ = (UniqueConstraint("evaluation_id", "name", "revision"),)

    id: int | None = Field(default=None, primary_key=True)
    evaluation_id: int = Field(foreign_key="evaluation.id")
    name: str
    revision: int
    version: str
    scores: str
    imported_by: int | None = Field(default=None, foreign_key="person.id")
    imported_at: datetime = Field(sa_type=UtcDateTime)
