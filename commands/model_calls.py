"""Shared parts of the commands that call language models: limits, process names, stopping on signals."""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from types import FrameType

from domain.errors import InvalidValue
from domain.language_models import Budget


def add_budget(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that limit a run."""
    parser.add_argument("--max-calls", type=int, metavar="N")
    parser.add_argument("--max-tokens", type=int, metavar="N")
    parser.add_argument("--max-cost", type=_parse_dollars, metavar="DOLLARS")


def read_budget(args: argparse.Namespace) -> Budget | None:
    """Return the limits that were given; None if none was given."""
    budget = Budget(max_calls=args.max_calls, max_tokens=args.max_tokens, max_cost_nanos=args.max_cost)
    return None if budget == Budget() else budget


def add_lease(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the time that this process holds requests."""
    parser.add_argument(
        "--lease",
        type=int,
        default=60,
        metavar="SECONDS",
        help="seconds after which other processes take over the requests of a killed process (default 60)",
    )


def read_lease(args: argparse.Namespace) -> timedelta:
    """Return the time that this process holds requests.

    Raises:
        InvalidValue: the time is less than a second.
    """
    if args.lease < 1:
        raise InvalidValue("--lease", "must be at least 1 second")
    return timedelta(seconds=args.lease)


def make_worker_name() -> str:
    """Return a name of this process that is unique among all processes."""
    return f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"


@contextmanager
def stopping_on_signals() -> Iterator[Callable[[], bool]]:
    """Yield a function that states whether Ctrl+C or the service manager asked the process to stop."""
    received_signals: list[int] = []

    def stop(signal_number: int, _: FrameType | None) -> None:
        if received_signals:
            raise KeyboardInterrupt
        received_signals.append(signal_number)
        print("Stopping: calls under way are stored. Press Ctrl+C again to abandon them.", file=sys.stderr)

    previous_handlers = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(received_signals)
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


def _parse_dollars(text: str) -> int:
    try:
        return int(Decimal(text) * 1_000_000_000)
    except (InvalidOperation, OverflowError, ValueError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of dollars") from None
