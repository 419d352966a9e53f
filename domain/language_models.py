"""Language models: endpoints, the use of data that they and datasets permit, calls and runs.

Money is in nano-dollars (1e-9 US dollars) so that sums are exact; prices are in dollars per million tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from domain.errors import Refused


class DataUse(StrEnum):
    """What happens to data at an endpoint, and what a dataset permits; from the strictest to the loosest.

    LOCAL: the model runs on machines of the institution.
    ZERO_RETENTION: a provider that keeps no data, lets nobody read it and does not train on it.
    REMOTE: any other provider.
    """

    LOCAL = "local"
    ZERO_RETENTION = "zero retention"
    REMOTE = "remote"

    def permits(self, endpoint: DataUse) -> bool:
        """Whether a dataset with this policy may be sent to such an endpoint.

        >>> DataUse.ZERO_RETENTION.permits(DataUse.LOCAL), DataUse.LOCAL.permits(DataUse.REMOTE)
        (True, False)
        """
        order = list(DataUse)
        return order.index(endpoint) <= order.index(self)


#: The policy of a dataset for which nobody has chosen one.
DEFAULT_DATA_USE = DataUse.LOCAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The price of a model in US dollars per million tokens, and where it is from."""

    input: Decimal
    output: Decimal
    source: str

    def cost_nanos(self, *, prompt_tokens: int, completion_tokens: int) -> int:
        """Compute the cost of a call in nano-dollars, rounded.

        >>> price = Price(input=Decimal("0.15"), output=Decimal("0.60"), source="declared")
        >>> price.cost_nanos(prompt_tokens=1000, completion_tokens=100)
        210000
        """
        return round(1000 * (self.input * prompt_tokens + self.output * completion_tokens))


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A model at an address with an OpenAI-compatible interface.

    Attributes:
        id: the id in the database; 0 before it is stored.
        name: the name in lists and commands; unique among endpoints in use.
        url: the base address, up to and including ``/v1``.
        model: the requested model.
        reported_model: the name under which the server answers, if it differs from ``model``.
        data_use: what happens to data there, as declared by the admin.
        family: the family of the model, such as qwen, as declared by the admin; None to take it from its
            name.
        key_name: the name of its key in the environment or the key file; None if it needs no key.
        price_input: dollars per million tokens of the prompt; None to look the price up.
        price_output: the same for tokens of the reply.
        max_parallel: the largest number of calls at a time, in each process.
        timeout_seconds: the time after which a call has failed.
        accepts_images: whether it accepts radiographs.
        retired_at: since when it is no longer used; None if it is in use.
    """

    id: int = 0
    name: str
    url: str
    model: str
    reported_model: str | None = None
    data_use: DataUse
    family: str | None = None
    key_name: str | None = None
    price_input: Decimal | None = None
    price_output: Decimal | None = None
    max_parallel: int = 32
    timeout_seconds: int = 300
    accepts_images: bool = False
    retired_at: datetime | None = None

    @property
    def model_name(self) -> str:
        """The name under which the model answers."""
        return self.reported_model or self.model

    def has_same_model(self, other: Endpoint) -> bool:
        """Whether both have the same model and family, and both or neither accept radiographs."""
        return (self.model, self.model_name, self.family, self.accepts_images) == (
            other.model,
            other.model_name,
            other.family,
            other.accepts_images,
        )

    @property
    def is_test_model(self) -> bool:
        """Whether this is the small model of the tests; see :data:`TEST_MODEL_NOTE`."""
        return any(is_test_model(name or "") for name in (self.model, self.reported_model))

    @property
    def marked_name(self) -> str:
        """The name of the endpoint, followed by :data:`TEST_MODEL_NOTE` if it is the test model."""
        return f"{self.name} ({TEST_MODEL_NOTE})" if self.is_test_model else self.name


#: Every name of the small model of the tests contains this text, if written in lower case.
TEST_MODEL = "smollm2-135m"
#: Every page and report with results of this model shows the note.
TEST_MODEL_NOTE = "path tested, quality not measured"


def is_test_model(name: str) -> bool:
    """Whether a model's name is that of the small model of the tests.

    >>> is_test_model("SmolLM2-135M-Instruct"), is_test_model("SmolLM2-1.7B")
    (True, False)
    """
    return TEST_MODEL in name.lower()


def mark_test_model(name: str) -> str:
    """Return a text that names a model, followed by the note if it is the small model of the tests.

    >>> mark_test_model("SmolLM2-135M-Instruct gemex@1")
    'SmolLM2-135M-Instruct gemex@1 (path tested, quality not measured)'
    """
    return f"{name} ({TEST_MODEL_NOTE})" if is_test_model(name) else name


def require_data_use(*, dataset: str, permitted: DataUse, endpoint: Endpoint) -> None:
    """Check that a dataset may be sent to an endpoint. Callers check this before anything is sent.

    Raises:
        Refused: the dataset does not permit it.
    """
    if not permitted.permits(endpoint.data_use):
        raise Refused(
            f"Not sent: dataset {dataset} permits {describe_permitted(permitted)}, and endpoint "
            f"{endpoint.name} is {endpoint.data_use.value}. Choose another endpoint, or change the data "
            "use of the dataset if its licence allows it."
        )


def describe_permitted(permitted: DataUse) -> str:
    """Describe the endpoints that a dataset's policy permits.

    >>> describe_permitted(DataUse.ZERO_RETENTION)
    'local endpoints and those with zero retention only'
    """
    return {
        DataUse.LOCAL: "local endpoints only",
        DataUse.ZERO_RETENTION: "local endpoints and those with zero retention only",
        DataUse.REMOTE: "all endpoints",
    }[permitted]


class FailureKind(StrEnum):
    """Why a call has no usable reply."""

    RATE_LIMIT = "rate limit"
    SERVER_ERROR = "server error"
    CONNECTION = "connection"
    TIMEOUT = "timeout"
    BAD_RESPONSE = "response is not JSON"
    AUTHENTICATION = "authentication"
    NOT_FOUND = "model not found"
    BAD_REQUEST = "bad request"
    CONTEXT_SIZE = "context too long"
    CONTENT_FILTER = "content filter"
    REFUSAL = "refusal"
    LENGTH = "reply cut off"
    EMPTY = "empty reply"
    WRONG_MODEL = "other model"
    INVALID_JSON = "invalid JSON"
    WRONG_SCHEMA = "wrong schema"
    EXPIRED = "batch expired"


#: Failures of the connection or the server. They cost no tokens, and the call is repeated after a pause.
RETRIED_FAILURES = frozenset(
    {
        FailureKind.RATE_LIMIT,
        FailureKind.SERVER_ERROR,
        FailureKind.CONNECTION,
        FailureKind.TIMEOUT,
        FailureKind.BAD_RESPONSE,
    }
)
#: Replies that the model is asked to correct, with the error in the next message.
REPAIRABLE_FAILURES = frozenset({FailureKind.INVALID_JSON, FailureKind.WRONG_SCHEMA, FailureKind.EMPTY})
#: Failures that every further call would have too. The run is paused.
PAUSING_FAILURES = frozenset({FailureKind.AUTHENTICATION, FailureKind.NOT_FOUND})
#: How often the model is asked to correct a reply.
REPAIR_ROUNDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of a call, as reported by the server; ``cached_tokens`` are part of ``prompt_tokens``."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call in the ledger. A call without ``failure`` succeeded, and only such a call is ever reused.

    Attributes:
        key: SHA-256 of everything that determines the request; see ``language_models.requests``.
        run_id: the run; None for a test of an endpoint.
        position: the position of the request in the run, from 0.
        round: 0 for the request itself, 1 or 2 for a correction of the reply.
        failure: why there is no usable reply; None if there is one.
        error: the reason as text.
        raw: the body of the response as received; "" if there is none.
        model: the model that the server reports.
        fingerprint: the configuration that the server reports.
        cost_nanos: nano-dollars; None if the price is unknown.
        price_source: where the price is from.
        attempts: how often the request was sent until this outcome.
        seconds: duration of the last attempt.
    """

    key: str
    run_id: int | None
    position: int
    endpoint_id: int
    round: int
    failure: FailureKind | None
    error: str
    raw: str
    model: str | None
    fingerprint: str | None
    finish_reason: str | None
    usage: Usage
    cost_nanos: int | None
    price_source: str
    attempts: int
    seconds: float
    called_at: datetime
    id: int = 0


class RunStatus(StrEnum):
    """What people or limits decided about a run. Its requests show whether an open run is finished."""

    OPEN = "open"
    PAUSED = "paused"
    CANCELLED = "cancelled"


class RequestStatus(StrEnum):
    """The status of one request of a run. IN_BATCH: written to a batch file, without results so far."""

    WAITING = "waiting"
    LEASED = "in progress"
    IN_BATCH = "in a batch file"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of a run; None is no limit. ``max_cost_nanos`` is in nano-dollars."""

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost_nanos: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRun:
    """A run: many requests to one endpoint. ``calls``, ``tokens`` and costs are totals of the ledger.

    ``dataset`` is the dataset whose data the requests contain; None if they contain none.
    ``unpriced_calls`` is the number of calls without a known price, which are missing in ``cost_nanos``.
    """

    id: int
    name: str
    stage: str
    endpoint: Endpoint
    dataset: str | None
    prompt: str | None
    budget: Budget
    status: RunStatus
    reason: str
    requests: int
    requests_sha256: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_nanos: int
    unpriced_calls: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """A run with the number of its requests by status, and of failed requests by kind.

    Attributes:
        reused: requests answered by the ledger without a call.
        calls_per_minute: calls per minute, from the calls of the last minute; 0 if the run is finished.
        seconds_left: the remaining time at that rate; None if the rate is 0.
        expected_cost_nanos: the estimate for the whole run from the calls so far; None before the first call.
    """

    run: ModelRun
    by_status: dict[RequestStatus, int]
    failures: dict[FailureKind, int]
    reused: int
    calls_per_minute: int
    seconds_left: float | None
    expected_cost_nanos: int | None

    def count(self, status: RequestStatus) -> int:
        """Return the number of requests with a status."""
        return self.by_status.get(status, 0)

    @property
    def ended(self) -> int:
        """The number of requests that are done or failed."""
        return self.count(RequestStatus.DONE) + self.count(RequestStatus.FAILED)

    @property
    def is_finished(self) -> bool:
        """Whether every request is done or failed."""
        return self.ended == self.run.requests

    @property
    def state(self) -> str:
        """One or two words for lists."""
        if self.is_finished:
            return "finished"
        if self.run.status is not RunStatus.OPEN:
            return self.run.status.value
        return "in progress" if self.count(RequestStatus.LEASED) else "not running"


def format_cost(nanos: int) -> str:
    """Format an amount in dollars, with enough digits for cheap calls.

    >>> format_cost(1_234_500_000), format_cost(210_000), format_cost(0)
    ('$1.23', '$0.00021', '$0.00')
    """
    dollars = nanos / 1e9
    if nanos and abs(dollars) < 0.01:
        return f"${dollars:.2g}" if dollars >= 1e-4 else f"${dollars:.6f}".rstrip("0")
    return f"${dollars:,.2f}"
