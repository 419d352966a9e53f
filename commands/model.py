"""``cli.py model``: endpoints of language models, their test, and to which endpoints datasets may be sent."""

from __future__ import annotations

import argparse
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.errors import InvalidValue
from domain.language_models import Call, DataUse, Endpoint, describe_permitted, format_cost
from language_models import service as models
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("model")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="add | list | test | remove | data-use")
    _add_endpoint_arguments(verbs)
    verbs.add_parser("list", help="list endpoints with their latest call").set_defaults(run=run_list)
    test = verbs.add_parser(
        "test",
        help="ask an endpoint for a short structured reply",
        description="Sends one request that contains nothing of a dataset, and stores it in the ledger.",
    )
    test.add_argument("name", metavar="NAME")
    test.set_defaults(run=run_test)
    remove = verbs.add_parser("remove", help="remove an endpoint from use; its calls stay in the ledger")
    remove.add_argument("name", metavar="NAME")
    remove.set_defaults(run=run_remove)
    data_use = verbs.add_parser(
        "data-use",
        help="show or set to which endpoints a dataset may be sent",
        description="Without --allow, lists all datasets. Nothing of a dataset is sent to other endpoints.",
    )
    data_use.add_argument("dataset", metavar="DATASET", nargs="?")
    data_use.add_argument(
        "--allow", choices=list(DataUse), type=DataUse, help="the least restrictive data use that is allowed"
    )
    data_use.set_defaults(run=run_data_use)


def _add_endpoint_arguments(verbs: Subparsers) -> None:
    add = verbs.add_parser(
        "add",
        help="add an endpoint, or replace the one of that name",
        description="A key is never an argument: --key is its name. The key itself is in the environment "
        "variable OVERREAD_MODEL_KEY_<NAME>, or in the file that OVERREAD_MODEL_KEYS_FILE names.",
    )
    add.add_argument("name", metavar="NAME")
    add.add_argument("--url", required=True, help="base address, such as http://localhost:8000/v1")
    add.add_argument("--model", required=True, help="name of the model, as the server knows it")
    add.add_argument("--reported-model", help="name under which the server answers, if it differs")
    add.add_argument(
        "--data-use",
        required=True,
        choices=list(DataUse),
        type=DataUse,
        help="what happens to data at the endpoint",
    )
    add.add_argument(
        "--family",
        metavar="NAME",
        help="family of the model, such as qwen (default: from the name of the model)",
    )
    add.add_argument("--key", dest="key_name", metavar="NAME", help="name of the key, if it needs one")
    add.add_argument("--price-input", type=_parse_price, metavar="DOLLARS", help="per million tokens")
    add.add_argument("--price-output", type=_parse_price, metavar="DOLLARS", help="per million tokens")
    add.add_argument(
        "--parallel", dest="max_parallel", type=int, default=32, help="most calls at a time (default 32)"
    )
    add.add_argument(
        "--timeout",
        dest="timeout_seconds",
        type=int,
        default=300,
        metavar="SECONDS",
        help="after which a call has failed (default 300)",
    )
    add.add_argument("--images", dest="accepts_images", action="store_true", help="it accepts radiographs")
    add.set_defaults(run=run_add)


def _parse_price(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of dollars") from None


def run_add(args: argparse.Namespace) -> int:
    """Store the endpoint."""
    field_names = {field.name for field in fields(Endpoint)} & set(vars(args))
    endpoint = Endpoint(**{name: getattr(args, name) for name in field_names})
    with unit_of_work() as db:
        saved = models.save_endpoint(db, by=command_line_person(), endpoint=endpoint, now=datetime.now(UTC))
    print(f"Saved endpoint {saved.name}: {saved.model} at {saved.url} ({saved.data_use}).")
    return 0


def run_list(_: argparse.Namespace) -> int:
    """Print one line per endpoint."""
    with read_only_session() as db:
        states = models.list_endpoints(db, by=command_line_person())
    for state in states:
        endpoint = state.endpoint
        print(
            f"{endpoint.name}\t{endpoint.model}\t{endpoint.url}\t{endpoint.data_use}\t"
            f"{_describe_call(state.latest)}"
        )
    if not states:
        print("No endpoints. Add one with `cli.py model add`.")
    return 0


def run_test(args: argparse.Namespace) -> int:
    """Call the endpoint; the exit code is 1 if there is no usable reply."""
    by = command_line_person()
    with read_only_session() as db:
        endpoint = models.load_endpoint(db, by=by, name=args.name)
    call = models.make_test_call(endpoint, now=datetime.now(UTC))
    with unit_of_work() as db:
        models.record_test_call(db, by=by, call=call)
    print(_describe_call(call))
    return 0 if call.failure is None else 1


def run_remove(args: argparse.Namespace) -> int:
    """Retire the endpoint."""
    with unit_of_work() as db:
        models.retire_endpoint(db, by=command_line_person(), name=args.name, now=datetime.now(UTC))
    print(f"Removed endpoint {args.name}.")
    return 0


def run_data_use(args: argparse.Namespace) -> int:
    """Set the policy of one dataset if requested, and print the policies."""
    by = command_line_person()
    if args.allow is not None:
        if args.dataset is None:
            raise InvalidValue("DATASET", "is needed with --allow")
        with unit_of_work() as db:
            models.set_data_use(db, by=by, dataset=args.dataset, data_use=args.allow, now=datetime.now(UTC))
    with read_only_session() as db:
        policies = models.list_data_use(db, by=by)
    for dataset, policy in policies.items():
        if args.dataset in (None, dataset):
            print(f"{dataset}\t{describe_permitted(policy)}")
    if not policies:
        print("No datasets.")
    elif args.dataset not in (None, *policies):
        raise InvalidValue("DATASET", f"there is no dataset {args.dataset!r}")
    return 0


def _describe_call(call: Call | None) -> str:
    if call is None:
        return "never called"
    when = f"{call.called_at:%Y-%m-%d %H:%M} UTC"
    if call.failure is not None:
        return f"{when}: {call.failure}: {call.error}"
    cost = "price unknown" if call.cost_nanos is None else format_cost(call.cost_nanos)
    tokens = call.usage.prompt_tokens + call.usage.completion_tokens
    return f"{when}: answered as {call.model or 'no name'} in {call.seconds:.1f} s, {tokens:,} tokens, {cost}"
