"""Services for model endpoints, and for the data-use policy of each dataset."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlsplit

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import InvalidValue, NotFound
from domain.language_models import Call, DataUse, Endpoint, FailureKind, Usage
from domain.people import Action, Person, require
from language_models.client import CallFailed, ModelClient
from language_models.keys import check_key_name
from language_models.prices import find_price
from language_models.replies import read_reply
from language_models.requests import Body, ModelRequest, build_wire_body
from storage.intake import datasets
from storage.language_models import calls as ledger
from storage.language_models import endpoints as endpoint_storage

#: Hosts of providers, which no admin may declare as local.
_PROVIDERS = (
    "openai.com", "azure.com", "anthropic.com", "googleapis.com", "mistral.ai", "groq.com", "together.xyz",
    "deepseek.com", "openrouter.ai", "amazonaws.com", "fireworks.ai", "x.ai", "cohere.com",
)  # fmt: skip
_FAMILY = re.compile(r"[a-z0-9][a-z0-9-]{0,29}")
_TEST_STAGE = "endpoint test"
_TEST_SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
_TEST_BODY: Body = {
    "messages": [{"role": "user", "content": 'Reply with the JSON {"answer": "ok"}.'}],
    "max_tokens": 100,
    "temperature": 0,
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "test", "strict": True, "schema": _TEST_SCHEMA},
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointState:
    """An endpoint and its latest call; None if it was never called."""

    endpoint: Endpoint
    latest: Call | None


def check_endpoint(endpoint: Endpoint) -> Endpoint:
    """Check the fields of an endpoint and return it with a normalised address.

    Raises:
        InvalidValue: a field is not allowed.
    """
    if not endpoint.name.strip() or len(endpoint.name) > 60:
        raise InvalidValue("name", "must have 1 to 60 characters")
    if not endpoint.model.strip():
        raise InvalidValue("model", "must not be empty")
    parts = urlsplit(endpoint.url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidValue("URL", f"must be of the form https://host/v1, not {endpoint.url!r}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidValue(
            "URL", "must not contain a user, a password or a query; set keys in environment variables"
        )
    if endpoint.data_use is DataUse.LOCAL and any(
        parts.hostname == host or parts.hostname.endswith(f".{host}") for host in _PROVIDERS
    ):
        raise InvalidValue("data use", f"{parts.hostname} is a provider and can't be declared local")
    if endpoint.data_use is not DataUse.LOCAL and parts.scheme != "https":
        raise InvalidValue("URL", "must begin with https:// unless the endpoint is local")
    if endpoint.family is not None and not _FAMILY.fullmatch(endpoint.family):
        raise InvalidValue("family", f"must be a word such as qwen or gpt, not {endpoint.family!r}")
    if endpoint.key_name is not None:
        check_key_name(endpoint.key_name)
    _check_numbers(endpoint)
    return replace(
        endpoint,
        name=endpoint.name.strip(),
        model=endpoint.model.strip(),
        url=endpoint.url.strip().rstrip("/"),
    )


def _check_numbers(endpoint: Endpoint) -> None:
    if (endpoint.price_input is None) != (endpoint.price_output is None):
        raise InvalidValue("price", "needs both prices, of input and of output")
    for price in (endpoint.price_input, endpoint.price_output):
        if price is not None and not 0 <= price <= 100_000:
            raise InvalidValue("price", f"must be 0 to 100,000 dollars per million tokens, not {price}")
    for field, value, maximum in (
        ("parallel calls", endpoint.max_parallel, 1000),
        ("timeout", endpoint.timeout_seconds, 86_400),
    ):
        if not 1 <= value <= maximum:
            raise InvalidValue(field, f"must be 1 to {maximum:,}, not {value}")


def save_endpoint(db: Session, *, by: Person, endpoint: Endpoint, now: datetime) -> Endpoint:
    """Store an endpoint. It replaces one with the same name.

    Existing runs keep the replaced endpoint. A run that is opened again takes the new one if its model is the
    same.

    Raises:
        InvalidValue: a field is not allowed.
    """
    require(by, Action.MANAGE_MODELS)
    checked = check_endpoint(endpoint)
    before = endpoint_storage.find_endpoint(db, name=checked.name)
    after = endpoint_storage.add_endpoint(db, endpoint=checked, person_id=by.id or None, now=now)
    record_action(
        db,
        by=by,
        action="set model endpoint",
        subject=f"endpoint {after.id}",
        old=_describe(before) if before else None,
        new=_describe(after),
        now=now,
    )
    return after


def retire_endpoint(db: Session, *, by: Person, name: str, now: datetime) -> None:
    """Remove an endpoint from use. Its calls stay in the ledger.

    Raises:
        NotFound: there is no such endpoint.
    """
    require(by, Action.MANAGE_MODELS)
    endpoint = _load(db, name)
    endpoint_storage.retire_endpoint(db, endpoint_id=endpoint.id, now=now)
    record_action(
        db,
        by=by,
        action="remove model endpoint",
        subject=f"endpoint {endpoint.id}",
        old=_describe(endpoint),
        now=now,
    )


def list_endpoints(db: Session, *, by: Person) -> list[EndpointState]:
    """List the endpoints in use, by name."""
    require(by, Action.RUN_MODELS if by.may(Action.RUN_MODELS) else Action.MANAGE_MODELS)
    return [
        EndpointState(endpoint=endpoint, latest=ledger.find_latest_call(db, endpoint_id=endpoint.id))
        for endpoint in endpoint_storage.list_endpoints(db)
    ]


def load_endpoint(db: Session, *, by: Person, name: str) -> Endpoint:
    """Load the endpoint in use with that name.

    Raises:
        NotFound: there is no such endpoint.
    """
    require(by, Action.RUN_MODELS if by.may(Action.RUN_MODELS) else Action.MANAGE_MODELS)
    return _load(db, name)


def make_test_call(endpoint: Endpoint, *, now: datetime) -> Call:
    """Ask an endpoint for a short structured reply, without data of a dataset. Raises no errors.

    Store the call with :func:`record_test_call`.
    """
    request = ModelRequest(custom_id="test", body=_TEST_BODY)
    raw, seconds, failure, error = "", 0.0, None, ""
    reply = None
    try:
        raw, seconds = asyncio.run(_send_test(endpoint))
        names = tuple(name for name in (endpoint.model, endpoint.reported_model) if name)
        reply = read_reply(raw, schema=_TEST_SCHEMA, expected_models=names)
        failure, error = reply.failure, reply.error
    except CallFailed as call_failed:
        raw, seconds, failure, error = (
            call_failed.raw,
            call_failed.seconds,
            call_failed.kind,
            call_failed.error,
        )
    except InvalidValue as problem:  # the key is missing
        failure, error = FailureKind.AUTHENTICATION, str(problem)
    usage = reply.usage if reply else Usage()
    price = find_price(endpoint)
    return Call(
        key=request.compute_key(stage=_TEST_STAGE, model=endpoint.model, prompt_sha256=now.isoformat()),
        run_id=None,
        position=0,
        endpoint_id=endpoint.id,
        round=0,
        failure=failure,
        error=error,
        raw=raw,
        model=reply.model if reply else None,
        fingerprint=reply.fingerprint if reply else None,
        finish_reason=reply.finish_reason if reply else None,
        usage=usage,
        cost_nanos=price.cost_nanos(
            prompt_tokens=usage.prompt_tokens, completion_tokens=usage.completion_tokens
        )
        if price
        else None,
        price_source=price.source if price else "",
        attempts=1,
        seconds=seconds,
        called_at=now,
    )


def record_test_call(  # allow writes-without-record: the ledger itself is the record of a call
    db: Session, *, by: Person, call: Call
) -> None:
    """Store the result of :func:`make_test_call` in the ledger."""
    require(by, Action.MANAGE_MODELS)
    ledger.append_calls(db, calls=[call])


def list_data_use(db: Session, *, by: Person) -> dict[str, DataUse]:
    """Return the data-use policy of each dataset by its name: to which endpoints it may be sent."""
    require(by, Action.RUN_MODELS)
    data_use_by_dataset = endpoint_storage.load_all_data_use(db)
    return {
        summary.name: data_use_by_dataset.get(summary.id, DataUse.LOCAL)
        for summary in datasets.list_datasets(db)
    }


def set_data_use(db: Session, *, by: Person, dataset: str, data_use: DataUse, now: datetime) -> None:
    """Set the data-use policy of a dataset: to which endpoints it may be sent.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    dataset_id = datasets.load_dataset(db, name=dataset).id
    before = endpoint_storage.load_data_use(db, dataset_id=dataset_id)
    endpoint_storage.save_data_use(db, dataset_id=dataset_id, data_use=data_use, now=now)
    record_action(
        db,
        by=by,
        action="change data use",
        subject=f"dataset {dataset_id}",
        old={"models": before.value},
        new={"models": data_use.value},
        now=now,
    )


async def _send_test(endpoint: Endpoint) -> tuple[str, float]:
    async with ModelClient(endpoint) as client:
        body = build_wire_body(_TEST_BODY, model=endpoint.model, find_image=lambda _: "")
        response = await client.send(body)
        return response.raw, response.seconds


def _load(db: Session, name: str) -> Endpoint:
    endpoint = endpoint_storage.find_endpoint(db, name=name)
    if endpoint is None:
        raise NotFound(f"There is no endpoint {name!r}. `cli.py model list` shows all.")
    return endpoint


def _describe(endpoint: Endpoint) -> dict[str, object]:
    """The values for the audit trail; the name of the key, never the key."""
    return {
        "name": endpoint.name,
        "url": endpoint.url,
        "model": endpoint.model,
        "data use": endpoint.data_use.value,
        "family": endpoint.family,
        "key name": endpoint.key_name,
        "images": endpoint.accepts_images,
    }
