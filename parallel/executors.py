"""Runs heavy computations in processes of this machine or on a Dask cluster, as one setting states.

A computation takes a :class:`concurrent.futures.Executor` and maps a function over its parts with
:func:`map_in_order`. The function is at the top level of a module, and its result depends only on its
arguments, so the results are the same wherever the function runs.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.popen_spawn_posix import Popen
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from domain.errors import InvalidValue, Refused

if TYPE_CHECKING:
    from distributed import Client

SETTING = "OVERREAD_WORKERS"
#: Number of parts submitted ahead: more than workers, so that none waits; few, so that memory is bounded.
_AHEAD = 64
_CONNECT_SECONDS = 10
#: Seconds of waiting for a result, after which the connection is checked.
_CHECK_SECONDS = 5
#: Fewer questions than this are compared in this process.
_FEW = 20_000
_NOTHING_STORED = "Nothing was stored. Run the computation again."
_main_module_lock = threading.Lock()
_Part = TypeVar("_Part")
_Result = TypeVar("_Result")


def is_cluster() -> bool:
    """Whether ``OVERREAD_WORKERS`` is the address of a Dask scheduler."""
    return "://" in os.environ.get(SETTING, "")


class _SpawnedProcess(SpawnProcess):
    """A new process that does not run the main module again. In the app, this module is a person's page."""

    @staticmethod
    def _Popen(process_obj: BaseProcess) -> Popen:  # noqa: N802 - the name in multiprocessing
        empty_module = ModuleType("__main__")
        with _main_module_lock:
            main, sys.modules["__main__"] = sys.modules["__main__"], empty_module
            try:
                return SpawnProcess._Popen(process_obj)
            finally:
                if sys.modules["__main__"] is empty_module:  # Streamlit may have set another person's page
                    sys.modules["__main__"] = main


class _SpawnContext(SpawnContext):
    """Spawns, because the app has threads, and a process that is forked from them can hang."""

    Process = _SpawnedProcess


@contextmanager
def open_executor(workers: str | None = None) -> Iterator[Executor]:
    """Open the executor that the setting names, and close it at the end.

    Args:
        workers: a number of processes, or the address of a Dask scheduler ("tcp://host:8786"); None for
            ``OVERREAD_WORKERS``, by default one process per processor.

    Raises:
        InvalidValue: the setting is neither, or the package distributed is not installed.
        Refused: the scheduler does not answer, has no workers, or ended; or a process was killed.
    """
    value = (os.environ.get(SETTING, "") if workers is None else workers).strip()
    with _open_dask(value) if "://" in value else _open_processes(value) as executor:
        yield executor


def map_in_order(
    executor: Executor, function: Callable[[_Part], _Result], parts: Iterable[_Part]
) -> Iterator[_Result]:
    """Apply a function to each part and yield the results in the order of the parts.

    Only some parts are submitted at a time, so all parts and results together may be larger than memory.
    """
    pending: deque[Future[_Result]] = deque()
    try:
        for part in parts:
            pending.append(executor.submit(function, part))
            if len(pending) >= _AHEAD:
                yield _wait_for(pending.popleft(), executor)
        while pending:
            yield _wait_for(pending.popleft(), executor)
    finally:
        for future in pending:
            future.cancel()


def _wait_for(future: Future[_Result], executor: Executor) -> _Result:
    while not wait([future], timeout=_CHECK_SECONDS).done:
        if isinstance(executor, _DaskExecutor):
            executor.check_connection()
    return future.result()


class _DaskExecutor(Executor):
    """Dask's executor, with a check of its connection.

    When a scheduler ends, its client cancels the futures that it knows. A future that is submitted while
    the client tries to connect again would never be done (distributed 2026.8).
    """

    def __init__(self, client: Client) -> None:
        """Use the client, which the caller closes."""
        self._client = client
        self._executor = client.get_executor(pure=False)

    def submit(self, function: Callable[..., _Result], /, *args: object, **kwargs: object) -> Future[_Result]:
        """Submit a call; see :meth:`concurrent.futures.Executor.submit`."""
        future: Future[_Result] = self._executor.submit(function, *args, **kwargs)
        return future

    def check_connection(self) -> None:
        """Raise CancelledError if the client has lost the scheduler."""
        if self._client.status != "running":
            raise CancelledError


@contextmanager
def open_executor_for(count: int) -> Iterator[Executor]:
    """Open an executor for ``count`` questions: this process if they are few, since others start slowly.

    Raises:
        InvalidValue: see :func:`open_executor`.
        Refused: see :func:`open_executor`.
    """
    if count < _FEW:
        with ThreadPoolExecutor(1) as executor:
            yield executor
    else:
        with open_executor() as executor:
            yield executor


@contextmanager
def _open_processes(value: str) -> Iterator[Executor]:
    if value and (not value.isdigit() or int(value) < 1):
        raise InvalidValue(
            SETTING, f"{value!r} is neither a number of processes nor an address like tcp://host:8786"
        )
    processes = int(value) if value else os.cpu_count() or 1
    executor = ProcessPoolExecutor(processes, mp_context=_SpawnContext())
    try:
        yield executor
    except BrokenExecutor as error:
        raise Refused(f"A process of the computation was killed. {_NOTHING_STORED}") from error
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _open_dask(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client, KilledWorker  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise InvalidValue(
            SETTING,
            f"is {address}, which needs Dask: install requirements-cluster.txt, or set a number of processes",
        ) from error
    try:
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise Refused(
            f"The Dask scheduler at {address} does not answer. Start it with `python -m dask scheduler`, or "
            f"correct {SETTING}."
        ) from error
    try:
        if not client.nthreads():
            raise Refused(
                f"The Dask scheduler at {address} has no workers. Start them in the folder of Overread: "
                f"`python -m dask worker {address}`."
            )
        yield _DaskExecutor(client)
    except CancelledError as error:
        raise Refused(f"The Dask scheduler at {address} ended. {_NOTHING_STORED}") from error
    except KilledWorker as error:
        raise Refused(f"Dask workers ended repeatedly: {error}. {_NOTHING_STORED}") from error
    finally:
        client.close(timeout=_CONNECT_SECONDS)
