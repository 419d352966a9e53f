"""Services for juries: planning one, its progress, pausing and cancelling.

A plan creates one ordinary run of requests for each check and judge, so data use, limits, costs, resuming and
the ledger work as in all runs. Questions that a model has judged by the same criteria are not asked again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.checks import JURY_CHECKS, Check
from domain.errors import InvalidValue, Refused
from domain.juries import MIN_FAMILIES, Judge, Jury
from domain.language_models import Budget, Endpoint, RunProgress, RunStatus
from domain.people import Action, Person, require
from domain.questions import Question
from language_models import service as models
from language_models.families import FAMILIES, find_family, infer_family
from language_models.prompts import Prompt, parse_prompt
from language_models.requests import ModelRequest
from quality.juries.criteria import CHECKS_BY_PROMPT, build_request, read_criteria, read_shipped_prompt
from quality.service.jury_results import update_results
from records.questions import question_from_columns
from storage.intake import datasets
from storage.intake.provenance import load_provenances
from storage.language_models.endpoints import load_declared_families
from storage.quality import juries as jury_storage
from storage.quality import question_blocks

#: The purpose of the calls; part of the key of each call in the ledger.
STAGE = "jury"
#: The number of questions of a jury that are asked first, to see answers and costs.
PILOT_QUESTIONS = 20
_QUESTIONS_PER_QUERY = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class JurySettings:
    """What a person chooses for a jury.

    Attributes:
        dataset: the name of the dataset.
        endpoints: the names of the endpoints, each of a different model family.
        checks: the checks.
        questions: the number of questions, chosen at random; None for all that are not judged yet.
        judged_only: whether only questions with a verdict of a reviewer are asked, to measure the checks.
        prompts: prompt versions such as jury-difficulty@2; checks without one use the shipped criteria.
        written_by: the family that wrote the questions without a known author; None if no model did.
        override_reason: why models may judge questions of their own family; "" if they may not.
    """

    dataset: str
    endpoints: tuple[str, ...]
    checks: tuple[Check, ...] = JURY_CHECKS
    questions: int | None = None
    judged_only: bool = False
    prompts: tuple[str, ...] = ()
    written_by: str | None = None
    override_reason: str = ""

    def __post_init__(self) -> None:
        if not self.checks or any(check not in JURY_CHECKS for check in self.checks):
            names = ", ".join(check.value for check in JURY_CHECKS)
            raise InvalidValue("checks", f"choose at least one of {names}")
        if self.questions is not None and self.questions < 1:
            raise InvalidValue("questions", f"must be at least 1, not {self.questions}")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeProgress:
    """A judge. ``requests`` is the progress of its requests; None if it has no question to judge."""

    judge: Judge
    requests: RunProgress | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryProgress:
    """A jury with the progress of its judges."""

    jury: Jury
    judges: tuple[JudgeProgress, ...]

    @property
    def runs(self) -> list[RunProgress]:
        """The runs of requests, in the order in which they are worked on."""
        return [judge.requests for judge in self.judges if judge.requests is not None]

    @property
    def requests(self) -> int:
        """The number of requests."""
        return sum(progress.run.requests for progress in self.runs)

    @property
    def ended(self) -> int:
        """The number of requests that are done or failed."""
        return sum(progress.ended for progress in self.runs)

    @property
    def failed(self) -> int:
        """The number of requests without a usable reply."""
        return sum(sum(progress.failures.values()) for progress in self.runs)

    @property
    def cost_nanos(self) -> int:
        """Nano-dollars so far."""
        return sum(progress.run.cost_nanos for progress in self.runs)

    @property
    def unpriced_calls(self) -> int:
        """The number of calls without a known price, which are missing in the cost."""
        return sum(progress.run.unpriced_calls for progress in self.runs)

    @property
    def is_cancelled(self) -> bool:
        """Whether a run was cancelled, so that the jury does not continue."""
        return any(
            progress.run.status is RunStatus.CANCELLED and not progress.is_finished for progress in self.runs
        )

    @property
    def is_finished(self) -> bool:
        """Whether no request is left."""
        return all(progress.is_finished for progress in self.runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scope:
    """Who may judge what: the endpoints by family, the questions, and the families that wrote them."""

    dataset_id: int
    settings: JurySettings
    endpoints: Mapping[str, Endpoint]
    numbers: Sequence[int]
    authors: Mapping[int, frozenset[str]]

    @property
    def allows_own_family(self) -> bool:
        """Whether models may judge what their family wrote."""
        return bool(self.settings.override_reason.strip())

    def list_excluded(self, family: str) -> set[int]:
        """Return the questions that models of a family must not judge."""
        if self.allows_own_family:
            return set()
        return {number for number in self.numbers if family in self.authors[number]}

    def list_undecidable(self) -> set[int]:
        """Return the questions that fewer than two families may judge. They are not paid for."""
        if self.allows_own_family:
            return set()
        return {
            number
            for number in self.numbers
            if len(self.endpoints.keys() - self.authors[number]) < MIN_FAMILIES
        }


@dataclass(slots=True, kw_only=True)
class _Plan:
    """The plan for one check: the questions that each family is asked, and those that it may not judge."""

    check: Check
    prompt: Prompt
    version: models.PromptVersion
    asked: dict[str, list[int]] = field(default_factory=dict)
    excluded: dict[str, list[int]] = field(default_factory=dict)


def plan_jury(
    db: Session, *, by: Person, settings: JurySettings, budget: Budget | None = None, now: datetime
) -> Jury:
    """Plan a jury. Nothing is sent yet.

    Args:
        db: a session that can write.
        by: the acting person.
        settings: the choices.
        budget: limits of each run of requests.
        now: the current time.

    Raises:
        NotFound: the dataset, an endpoint or a prompt version does not exist.
        Refused: another jury of the dataset is not finished, the dataset does not permit an endpoint, or no
            question is left to be judged.
        InvalidValue: there are fewer than two families, two endpoints are of one family, the stated author is
            of no known family, a prompt has no criteria, or the budget is not allowed.
    """
    require(by, Action.RUN_MODELS)
    dataset_id = datasets.load_dataset(db, name=settings.dataset).id
    jury_storage.lock_dataset(db, dataset_id=dataset_id)
    _refuse_second_jury(db, by, dataset_id, now)
    endpoints = _load_endpoints(db, by, settings.endpoints)
    families = load_declared_families(db)
    numbers = jury_storage.list_question_ids(db, dataset_id=dataset_id, judged_only=settings.judged_only)
    authors = _load_authors(db, numbers, families)
    unknown_author_numbers = {number for number in numbers if not authors.get(number)}
    written_by = _read_family(settings.written_by, families.values(), endpoints)
    if written_by is not None:
        authors |= dict.fromkeys(unknown_author_numbers, frozenset({written_by}))
    scope = _Scope(
        dataset_id=dataset_id, settings=settings, endpoints=endpoints, numbers=numbers, authors=authors
    )
    plans = [
        _plan_check(db, scope, check, _load_prompt(db, by=by, settings=settings, check=check, now=now))
        for check in JURY_CHECKS
        if check in settings.checks
    ]
    asked_numbers = {
        number for plan in plans for numbers_of_family in plan.asked.values() for number in numbers_of_family
    }
    if not asked_numbers:
        raise Refused(_describe_nothing_left(plans))
    involved_numbers = asked_numbers | {
        number for plan in plans for excluded in plan.excluded.values() for number in excluded
    }
    jury_id = jury_storage.add_jury(
        db,
        dataset_id=dataset_id,
        questions=len(involved_numbers),
        unknown_authors=len(unknown_author_numbers & involved_numbers),
        written_by=written_by,
        override_reason=settings.override_reason.strip(),
        person_id=by.id or None,
        now=now,
    )
    for plan in plans:
        _add_judges(db, scope, plan, by=by, jury_id=jury_id, budget=budget, now=now)
    if any(excluded for plan in plans for excluded in plan.excluded.values()):
        # Excluded judges are stored like votes, so the counts of the results have to include them.
        update_results(db, by=by, jury=jury_storage.load_jury(db, jury_id=jury_id), usable_votes={}, now=now)
    record_action(
        db,
        by=by,
        action="plan jury",
        subject=f"dataset {dataset_id}",
        new={
            "jury": jury_id,
            "checks": [plan.check.value for plan in plans],
            "prompts": [plan.version.label for plan in plans],
            "judges": {family: endpoint.name for family, endpoint in endpoints.items()},
            "questions": len(involved_numbers),
            "own family allowed": bool(settings.override_reason.strip()),
            "written by": written_by,
        },
        reason=settings.override_reason.strip(),
        now=now,
    )
    return jury_storage.load_jury(db, jury_id=jury_id)


def list_juries(db: Session, *, by: Person, dataset: str | None = None) -> list[Jury]:
    """Return the juries of a dataset, or of all datasets, the newest first.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    dataset_id = None if dataset is None else datasets.load_dataset(db, name=dataset).id
    return jury_storage.list_juries(db, dataset_id=dataset_id)


def load_jury_progress(db: Session, *, by: Person, jury_id: int, now: datetime) -> JuryProgress:
    """Return a jury with the progress of its judges.

    Raises:
        NotFound: there is no such jury.
    """
    require(by, Action.RUN_MODELS)
    jury = jury_storage.load_jury(db, jury_id=jury_id)
    return JuryProgress(
        jury=jury,
        judges=tuple(
            JudgeProgress(
                judge=judge,
                requests=models.load_progress(db, by=by, name=judge.model_run, now=now)
                if judge.model_run
                else None,
            )
            for judge in jury.judges
        ),
    )


def open_jury(
    db: Session, *, by: Person, jury_id: int, retry_failed: bool = False, now: datetime
) -> JuryProgress:
    """Let the unfinished runs of a jury continue. The caller then starts a process that works on it.

    Raises:
        NotFound: there is no such jury.
        Refused: the jury was cancelled, or its dataset does not permit an endpoint any more.
    """
    require(by, Action.RUN_MODELS)
    for progress in load_jury_progress(db, by=by, jury_id=jury_id, now=now).runs:
        if not progress.is_finished or (retry_failed and progress.failures):
            models.resume_run(db, by=by, name=progress.run.name, retry_failed=retry_failed, now=now)
    return load_jury_progress(db, by=by, jury_id=jury_id, now=now)


def pause_jury(db: Session, *, by: Person, jury_id: int, now: datetime) -> None:
    """Pause the unfinished runs of a jury. Calls under way are finished and stored.

    Raises:
        NotFound: there is no such jury.
        Refused: the jury was cancelled.
    """
    require(by, Action.RUN_MODELS)
    for progress in load_jury_progress(db, by=by, jury_id=jury_id, now=now).runs:
        if not progress.is_finished:
            models.pause_run(db, by=by, name=progress.run.name)


def cancel_jury(db: Session, *, by: Person, jury_id: int, now: datetime) -> None:
    """Cancel the unfinished runs of a jury for good. Votes so far stay, and another jury can be planned.

    Raises:
        NotFound: there is no such jury.
    """
    require(by, Action.RUN_MODELS)
    for progress in load_jury_progress(db, by=by, jury_id=jury_id, now=now).runs:
        if not progress.is_finished:
            models.cancel_run(db, by=by, name=progress.run.name, now=now)


def _refuse_second_jury(db: Session, by: Person, dataset_id: int, now: datetime) -> None:
    for jury in jury_storage.list_juries(db, dataset_id=dataset_id):
        progress = load_jury_progress(db, by=by, jury_id=jury.id, now=now)
        if not progress.is_finished and not progress.is_cancelled:
            raise Refused(
                f"Jury {jury.id} of dataset {jury.dataset} is not finished. Continue or cancel it first."
            )


def _load_endpoints(db: Session, by: Person, names: Sequence[str]) -> dict[str, Endpoint]:
    """Return the endpoints by the family of their model."""
    endpoints: dict[str, Endpoint] = {}
    for name in dict.fromkeys(names):
        endpoint = models.load_endpoint(db, by=by, name=name)
        family = find_family(endpoint)
        if family in endpoints:
            raise InvalidValue(
                "endpoints",
                f"{endpoints[family].name} and {name} are both of the family {family}; each judge must be of "
                "a different family",
            )
        endpoints[family] = endpoint
    if len(endpoints) < MIN_FAMILIES:
        raise InvalidValue("endpoints", f"a jury needs models of at least {MIN_FAMILIES} families")
    return endpoints


def _read_family(stated: str | None, *family_groups: Collection[str]) -> str | None:
    """Return the family that a person states by its name or by one of its models; None if none is stated."""
    if stated is None or not stated.strip():
        return None
    families = {*FAMILIES, *(family for group in family_groups for family in group)}
    name = stated.strip().lower()
    for family in (name, infer_family(name)):
        if family in families:
            return family
    raise InvalidValue(
        "written by",
        f"{stated.strip()!r} is not a known model family; known are {', '.join(sorted(families))}",
    )


def _load_authors(
    db: Session, numbers: Sequence[int], families: Mapping[str, str]
) -> dict[int, frozenset[str]]:
    """Return the families of the models that wrote each question, according to its origin and generator."""
    authors: dict[int, frozenset[str]] = {}
    for start in range(0, len(numbers), _QUESTIONS_PER_QUERY):
        block = numbers[start : start + _QUESTIONS_PER_QUERY]
        origins = load_provenances(db.connection(), question_ids=block)
        for number, generator in jury_storage.load_generators(db, question_ids=block).items():
            calls = origins[number].calls if number in origins else ()
            names = {call.model for call in calls if call.model} | ({generator} if generator else set())
            authors[number] = frozenset(
                family for name in names if (family := families.get(name) or infer_family(name))
            )
    return authors


def _plan_check(db: Session, scope: _Scope, check: Check, version: models.PromptVersion) -> _Plan:
    plan = _Plan(check=check, prompt=parse_prompt(version.content), version=version)
    read_criteria(plan.prompt)
    undecidable = scope.list_undecidable()
    for family, endpoint in scope.endpoints.items():
        judged, excluded_before = jury_storage.load_voted_questions(
            db, dataset_id=scope.dataset_id, check=check, prompt_id=version.id, model=endpoint.model_name
        )
        excluded = scope.list_excluded(family)
        skipped = judged | excluded | undecidable
        plan.asked[family] = [number for number in scope.numbers if number not in skipped]
        plan.excluded[family] = sorted(excluded - excluded_before - judged)
    if scope.settings.questions is not None:
        _keep_chosen_questions(plan, scope.settings.questions)
    return plan


def _keep_chosen_questions(plan: _Plan, count: int) -> None:
    """Keep ``count`` questions, chosen by their hash, so that all checks and juries choose the same."""
    open_row_ids = {number for numbers in plan.asked.values() for number in numbers}
    chosen_numbers = set(sorted(open_row_ids, key=_hash_row_id)[:count])
    for numbers_by_family in (plan.asked, plan.excluded):
        for family, numbers in numbers_by_family.items():
            numbers_by_family[family] = [number for number in numbers if number in chosen_numbers]


def _hash_row_id(number: int) -> bytes:
    return hashlib.blake2b(str(number).encode(), digest_size=8).digest()


def _load_prompt(
    db: Session, *, by: Person, settings: JurySettings, check: Check, now: datetime
) -> models.PromptVersion:
    for label in settings.prompts:
        name = label.partition("@")[0]
        if name not in CHECKS_BY_PROMPT:
            raise InvalidValue(
                "prompt",
                f"{label} is not the prompt of a check by a jury; those are {', '.join(CHECKS_BY_PROMPT)}",
            )
        if CHECKS_BY_PROMPT[name] is check:
            return models.load_prompt(db, by=by, label=label)
    return models.save_shipped_prompt(db, by=by, content=read_shipped_prompt(check), now=now)


def _add_judges(
    db: Session,
    scope: _Scope,
    plan: _Plan,
    *,
    by: Person,
    jury_id: int,
    budget: Budget | None,
    now: datetime,
) -> None:
    for family, endpoint in scope.endpoints.items():
        run_id = None
        if plan.asked[family]:
            run, _ = models.create_run(
                db,
                by=by,
                name=f"jury {jury_id} {plan.check.value} {family}",
                stage=STAGE,
                endpoint=endpoint,
                dataset=scope.settings.dataset,
                requests=_build_requests(db, plan.prompt, plan.asked[family]),
                prompt=plan.version,
                budget=budget,
                now=now,
            )
            run_id = run.id
        jury_storage.add_judge(
            db,
            jury_id=jury_id,
            check=plan.check,
            family=family,
            model=endpoint.model_name,
            is_test_model=endpoint.is_test_model,
            prompt_id=plan.version.id,
            model_run_id=run_id,
            excluded=plan.excluded[family],
        )


def _build_requests(db: Session, prompt: Prompt, numbers: Sequence[int]) -> Iterator[ModelRequest]:
    for number, question, report in load_questions(db, numbers):
        yield build_request(prompt, question, report, question_row_id=number)


def load_questions(db: Session, numbers: Collection[int]) -> Iterator[tuple[int, Question, str | None]]:
    """Yield (id, question, report of its exam) by ascending id. Callers check permissions."""
    for row in question_blocks.load_rows(db, question_ids=numbers):
        number, _, exam_key, report, *values = row
        yield number, question_from_columns(exam_key, values), report


def _describe_nothing_left(plans: Sequence[_Plan]) -> str:
    if any(excluded for plan in plans for excluded in plan.excluded.values()):
        return (
            "No question is left: each remaining question was written by a model of a judge's family. "
            "Choose endpoints of "
            "other families, or state a reason why they may judge their own."
        )
    return "No question is left: these models have judged all of them by these criteria."
