"""Tables of language models: endpoints, data use of datasets, runs, requests, calls, prompts and examples."""

from datetime import datetime

from sqlalchemy import BigInteger, Column, ForeignKey, Index, UniqueConstraint
from sqlmodel import Field

from storage.rows import datasets, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class ModelEndpointRow(TableRow, table=True):
    """An endpoint. A change retires the row and adds another, so calls refer to the settings that they used.

    Prices are in micro-dollars per million tokens. The migration also creates the unique index
    ``model_endpoint_in_use`` on the names of endpoints that are not retired.
    """

    __tablename__ = "model_endpoint"

    id: int | None = Field(default=None, primary_key=True)
    name: str
    url: str
    model: str
    reported_model: str | None = None
    data_use: str
    family: str | None = None
    key_name: str | None = None
    price_input: int | None = Field(default=None, sa_type=BigInteger)
    price_output: int | None = Field(default=None, sa_type=BigInteger)
    max_parallel: int
    timeout_seconds: int
    accepts_images: bool
    added_by: int | None = Field(default=None, foreign_key="person.id")
    added_at: datetime = Field(sa_type=UtcDateTime)
    retired_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class DatasetDataUseRow(TableRow, table=True):
    """To which endpoints a dataset may be sent. Without a row: local endpoints only."""

    __tablename__ = "dataset_data_use"

    dataset_id: int = Field(primary_key=True, foreign_key="dataset.id")
    data_use: str
    changed_at: datetime = Field(sa_type=UtcDateTime)


class PromptVersionRow(TableRow, table=True):
    """A version of a prompt; append-only by trigger. ``content`` is the prompt file (TOML)."""

    __tablename__ = "prompt_version"
    __table_args__ = (UniqueConstraint("name", "version"),)

    id: int | None = Field(default=None, primary_key=True)
    name: str
    version: int
    sha256: str
    content: str
    note: str
    person_id: int | None = Field(default=None, foreign_key="person.id")
    added_at: datetime = Field(sa_type=UtcDateTime)


class PromptExampleRow(TableRow, table=True):
    """An in-context example that was written from an exam, to be added to a version of the prompt ``name``.

    ``variables`` is a JSON object of texts, ``images`` a JSON list of SHA-256. A row changes only when the
    example is removed.
    """

    __tablename__ = "prompt_example"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(index=True)
    exam_id: int = Field(sa_column=Column(BigKey, ForeignKey("exam.id"), nullable=False))
    variables: str
    images: str
    reply: str
    written_by: int | None = Field(default=None, foreign_key="person.id")
    written_at: datetime = Field(sa_type=UtcDateTime)
    removed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class ModelRunRow(TableRow, table=True):
    """A run. Its counters are totals of ``model_call``, kept here because each claim checks the budget."""

    __tablename__ = "model_run"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    stage: str
    endpoint_id: int = Field(foreign_key="model_endpoint.id")
    dataset_id: int | None = Field(default=None, foreign_key="dataset.id")
    prompt_id: int | None = Field(default=None, foreign_key="prompt_version.id")
    max_calls: int | None = Field(default=None, sa_type=BigInteger)
    max_tokens: int | None = Field(default=None, sa_type=BigInteger)
    max_cost_nanos: int | None = Field(default=None, sa_type=BigInteger)
    status: str
    reason: str = ""
    requests: int
    requests_sha256: str
    calls: int = Field(default=0, sa_type=BigInteger)
    prompt_tokens: int = Field(default=0, sa_type=BigInteger)
    completion_tokens: int = Field(default=0, sa_type=BigInteger)
    cost_nanos: int = Field(default=0, sa_type=BigInteger)
    unpriced_calls: int = Field(default=0, sa_type=BigInteger)
    person_id: int | None = Field(default=None, foreign_key="person.id")
    created_at: datetime = Field(sa_type=UtcDateTime)


class ModelRequestRow(TableRow, table=True):
    """A request of a run. ``body`` is the JSON body of the call without the model; images are SHA-256.

    ``is_copy`` is true if an earlier request of the run has the same key; it gets the same reply.
    ``repairs`` is the number of corrections that were asked for. ``reused`` is true if the ledger had the
    reply. ``reserve_*`` are the maximum numbers of tokens of a call, which the budget reserves.
    """

    __tablename__ = "model_request"
    __table_args__ = (
        UniqueConstraint("run_id", "custom_id"),
        Index("model_request_status", "run_id", "status", "position"),
        Index("model_request_key", "run_id", "key"),
    )

    run_id: int = Field(foreign_key="model_run.id", primary_key=True)
    position: int = Field(primary_key=True)
    custom_id: str
    key: str
    body: str
    is_copy: bool
    status: str
    failure: str | None = None
    repairs: int = 0
    reused: bool = False
    reserve_prompt: int
    reserve_completion: int
    worker: str | None = None
    lease_until: datetime | None = Field(default=None, sa_type=UtcDateTime)


class ModelCallRow(TableRow, table=True):
    """The ledger: one call, as ``domain.language_models.Call``; append-only by trigger."""

    __tablename__ = "model_call"
    __table_args__ = (
        Index("model_call_key", "key"),
        Index("model_call_run", "run_id", "position"),
        Index("model_call_endpoint", "endpoint_id", "called_at"),
    )

    id: int | None = Field(default=None, sa_column=Column(BigKey, primary_key=True))
    key: str
    run_id: int | None = Field(default=None, foreign_key="model_run.id")
    position: int
    endpoint_id: int = Field(foreign_key="model_endpoint.id")
    round: int
    failure: str | None = None
    error: str
    raw: str
    model: str | None = None
    fingerprint: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost_nanos: int | None = Field(default=None, sa_type=BigInteger)
    price_source: str
    attempts: int
    seconds: float
    called_at: datetime = Field(sa_type=UtcDateTime)
