"""Whether the models that wrote a question were allowed to see the dataset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from domain.checks import Check, Problem
from domain.language_models import DataUse
from domain.provenance import Provenance


def examine_data_use(
    origins: Iterable[tuple[int, Provenance]],
    *,
    permitted: DataUse,
    endpoints: Mapping[str, tuple[str, DataUse]],
) -> Iterator[tuple[int, Problem | None]]:
    """Yield (question id, problem) of questions from model runs of this workspace.

    The problem is None if the use is permitted. Questions of other runs and questions without an origin are
    left out, because nothing is known about their models.

    Args:
        origins: question ids with their origins.
        permitted: the rule of the dataset.
        endpoints: the name of the endpoint and its use of data, by the name of the model run.
    """
    for number, origin in origins:
        runs = [call.run for call in origin.calls if call.run]
        used_endpoints = [(run, endpoints[run]) for run in runs if run in endpoints]
        if used_endpoints:
            yield number, next(_find_problems(used_endpoints, permitted), None)


def _find_problems(
    used_endpoints: Iterable[tuple[str, tuple[str, DataUse]]], permitted: DataUse
) -> Iterator[Problem]:
    for run, (name, data_use) in used_endpoints:
        if not permitted.permits(data_use):
            yield Problem(
                check=Check.DATA_USE,
                field="provenance",
                reason=f"model run {run!r} used the endpoint {name!r} ({data_use.value}); "
                f"the dataset may be sent to: {permitted.value}",
            )
