"""Tables of juries of language models: what was planned, the judges, and their votes."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey
from sqlmodel import Field

from storage.rows import datasets, language_models, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class JuryRow(TableRow, table=True):
    """A jury, as ``domain.juries.Jury``; append-only by trigger."""

    __tablename__ = "jury"

    id: int | None = Field(default=None, primary_key=True)
    dataset_id: int = Field(foreign_key="dataset.id", index=True)
    questions: int
    unknown_authors: int
    written_by: str | None = None
    override_reason: str
    planned_by: int | None = Field(default=None, foreign_key="person.id")
    planned_at: datetime = Field(sa_type=UtcDateTime)


class JuryJudgeRow(TableRow, table=True):
    """A model that judges by one check; append-only by trigger. Without a run it has no question to judge."""

    __tablename__ = "jury_judge"

    id: int | None = Field(default=None, primary_key=True)
    jury_id: int = Field(foreign_key="jury.id", index=True)
    check_name: str
    family: str
    model: str
    is_test_model: bool
    prompt_id: int = Field(foreign_key="prompt_version.id")
    model_run_id: int | None = Field(default=None, foreign_key="model_run.id")


class JuryVoteRow(TableRow, table=True):
    """The vote of a judge on a question. All votes but exclusions are replaced when replies are read again.

    ``answers`` are separated by commas, in the order of the items of the judge's prompt. ``failure`` states
    why there are no answers. The reasons are in the reply, in ``model_call``.
    """

    __tablename__ = "jury_vote"

    judge_id: int = Field(foreign_key="jury_judge.id", primary_key=True)
    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False, index=True)
    )
    answers: str
    failure: str
