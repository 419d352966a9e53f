"""Services for the results of juries: storing votes and what they decide, and reading both.

A vote counts if it was made with the prompt version in the settings of the check. If a family has several
usable votes on a question, only the last one counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.checks import CHECKS, JURY_CHECKS, Check, CheckResult, Need, Problem
from domain.errors import InvalidValue
from domain.juries import CriterionAnswer, Judge, Jury, JuryCriterion, Vote
from domain.people import Action, Person, require
from domain.vocabulary import Difficulty
from language_models import service as models
from language_models.prompts import parse_prompt
from quality.juries.criteria import list_allowed_answers, read_answers, read_criteria
from quality.juries.decision import JuryOutcome, decide
from quality.service.settings import switch_check
from storage.intake import datasets
from storage.language_models.prompts import find_prompt
from storage.quality import check_states, problems
from storage.quality import juries as jury_storage
from storage.quality.check_states import CheckState

_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemCounts:
    """How the judges of one family answered a criterion; ``answers`` has each allowed answer."""

    item: JuryCriterion
    family: str
    answers: dict[CriterionAnswer, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryResults:
    """The votes of a check in a dataset.

    Attributes:
        check: the check.
        prompt: the label of the prompt version with the criteria.
        judged: the number of questions with a vote, usable or not.
        counts: the answers by criterion and family.
        failures: the number of replies that cannot be used and of excluded judges, by (family, reason).
        is_test: whether a judge is the small model of the tests.
        override_reasons: why judges of these votes may belong to the family of the author; empty if none may.
    """

    check: Check
    prompt: str
    judged: int
    counts: tuple[ItemCounts, ...]
    failures: dict[tuple[str, str], int]
    is_test: bool
    override_reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteDetails:
    """The vote of a judge on a question with the reasons, in the order of the criteria."""

    judge: Judge
    items: tuple[JuryCriterion, ...]
    vote: Vote
    reasons: tuple[str, ...]


def store_votes(  # allow writes-without-record: the votes are read from the ledger, which is the record
    db: Session, *, by: Person, judge: Judge
) -> int:
    """Store the votes of a judge from the replies so far, and return the number of usable votes.

    Requests that have not been sent have no vote.
    """
    require(by, Action.RUN_MODELS)
    if judge.model_run is None:
        return 0
    criteria = _load_criteria(db, judge.prompt)
    votes = [
        (int(reply.custom_id), _read_vote(reply, judge.family, criteria))
        for reply in models.iterate_replies(db, by=by, name=judge.model_run)
        if reply.output is not None or reply.failure
    ]
    jury_storage.replace_votes(db, judge_id=judge.id, votes=votes)
    return sum(bool(vote.answers) for _, vote in votes)


def update_results(
    db: Session, *, by: Person, jury: Jury, usable_votes: Mapping[Check, int], now: datetime
) -> None:
    """Store the results of each check that the votes of a jury change.

    The criteria of the results change only if there is a usable vote, and never to the criteria of an older
    jury: the votes of the older jury are kept, but the votes of the newer jury count.

    Args:
        db: a session that can write.
        by: the acting person.
        jury: the jury.
        usable_votes: the jury's number of usable votes by check.
        now: the current time.
    """
    require(by, Action.RUN_MODELS)
    dataset_id = datasets.load_dataset(db, name=jury.dataset).id
    states = check_states.load_states(db, dataset_id=dataset_id)
    newer_prompts = {
        (judge.check, judge.prompt)
        for other_jury in jury_storage.list_juries(db, dataset_id=dataset_id)
        if other_jury.id > jury.id
        for judge in other_jury.judges
    }
    for check, prompt in dict.fromkeys((judge.check, judge.prompt) for judge in jury.judges):
        current = states[check].settings.get("prompt")
        if current == prompt or (usable_votes.get(check) and (check, current) not in newer_prompts):
            store_jury_results(db, by=by, dataset=jury.dataset, check=check, prompt=prompt, now=now)


def store_jury_results(
    db: Session, *, by: Person, dataset: str, check: Check, prompt: str, now: datetime
) -> int:
    """Store what the votes by a prompt version decide, and switch the check on. Earlier results are replaced.

    Args:
        db: a session that can write.
        by: the acting person.
        dataset: the name of the dataset.
        check: the check.
        prompt: the label of the prompt version whose votes count from now on.
        now: the current time.

    Returns:
        The number of questions with a problem.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.RUN_MODELS)
    summary = datasets.load_dataset(db, name=dataset)
    missing_counts: Counter[Need] = Counter()
    found_problems: list[tuple[int, Problem]] = []
    for number, outcome in _iterate_outcomes(db, summary.id, check, prompt):
        found_problems += [(number, problem) for problem in outcome.problems]
        if outcome.missing_need is not None:
            missing_counts[outcome.missing_need] += 1
    problems.replace_problems(db, dataset_id=summary.id, check=check, problems=found_problems)
    switch_check(db, by=by, dataset=dataset, check=check, is_on=True, now=now)
    state = check_states.load_states(db, dataset_id=summary.id)[check]
    check_states.save_state(
        db,
        dataset_id=summary.id,
        state=replace(
            state,
            version=CHECKS[check].version,
            settings={"prompt": prompt},
            missing_needs=missing_counts,
            checked_at=now,
        ),
    )
    reported_count = len({number for number, _ in found_problems})
    record_action(
        db,
        by=by,
        action="check questions",
        subject=f"dataset {summary.id}",
        new={
            "checks": {check.value: CHECKS[check].version},
            "prompt": prompt,
            "problems": {check.value: reported_count},
        },
        now=now,
    )
    return reported_count


def load_jury_outcomes(
    db: Session, *, dataset_id: int, state: CheckState, question_ids: Collection[int]
) -> dict[int, JuryOutcome]:
    """Return what the juries decided on some questions, by id. Callers check permissions.

    A question that no jury judged by the criteria in the settings of the check is missing.
    """
    prompt = state.settings.get("prompt")
    if prompt is None:
        return {}
    criteria = _load_criteria(db, str(prompt))
    votes = jury_storage.load_votes(
        db, dataset_id=dataset_id, check=state.check, prompt=str(prompt), question_ids=question_ids
    )
    stated_difficulties = _load_stated(db, state.check, list(votes))
    return {
        number: decide(state.check, criteria, question_votes, stated=stated_difficulties.get(number))
        for number, question_votes in votes.items()
    }


def count_judged(db: Session, *, dataset_id: int, state: CheckState) -> int:
    """Return the number of questions with a vote that counts. Callers check permissions."""
    prompt = state.settings.get("prompt")
    if prompt is None:
        return 0
    return jury_storage.count_questions_voted_by_check(
        db, dataset_id=dataset_id, check=state.check, prompt=str(prompt)
    )


def count_judged_by_all(
    db: Session, *, dataset_id: int, states: Collection[CheckState], through: int | None
) -> int:
    """Return the number of questions, up to the id ``through``, with a vote that counts for each check.

    Without checks, return the number of all questions up to the id. Callers check permissions.
    """
    prompts = {state.check: str(state.settings.get("prompt", "")) for state in states}
    if not all(prompts.values()):
        return 0
    return jury_storage.count_questions_voted_by_all_checks(
        db, dataset_id=dataset_id, prompts=prompts, through=through
    )


def outcome_to_result(check: Check, outcome: JuryOutcome | None) -> CheckResult:
    """Return the result of a check for a question. ``outcome`` is None if no jury judged it."""
    if outcome is None:
        return CheckResult(check=check, missing_need=Need.JURY)
    if outcome.problems:
        return CheckResult(check=check, problem=outcome.problems[0])
    return CheckResult(check=check, missing_need=outcome.missing_need)


def load_jury_results(db: Session, *, by: Person, dataset: str) -> list[JuryResults]:
    """Return the votes of the checks that have any, in the order of the checks.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    summary = datasets.load_dataset(db, name=dataset)
    states = check_states.load_states(db, dataset_id=summary.id)
    judges = [
        (jury, judge) for jury in jury_storage.list_juries(db, dataset_id=summary.id) for judge in jury.judges
    ]
    test_prompts = {(judge.check, judge.prompt) for _, judge in judges if judge.is_test_model}
    results = []
    for check in JURY_CHECKS:
        prompt = states[check].settings.get("prompt")
        if prompt is None:
            continue
        criteria = _load_criteria(db, str(prompt))
        counts = jury_storage.count_answers(db, dataset_id=summary.id, check=check, prompt=str(prompt))
        results.append(
            JuryResults(
                check=check,
                prompt=str(prompt),
                judged=count_judged(db, dataset_id=summary.id, state=states[check]),
                counts=tuple(_count_answers(check, criteria, counts)),
                failures={
                    (count.family, count.failure): count.questions for count in counts if not count.answers
                },
                is_test=(check, str(prompt)) in test_prompts,
                override_reasons=tuple(
                    dict.fromkeys(
                        jury.override_reason
                        for jury, judge in judges
                        if jury.override_reason and (judge.check, judge.prompt) == (check, prompt)
                    )
                ),
            )
        )
    return results


def load_jury_tiers(
    db: Session, *, by: Person, dataset: str, question_row_ids: Collection[int]
) -> dict[int, Difficulty]:
    """Return the tiers on which juries agree, for the questions that have one.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    summary = datasets.load_dataset(db, name=dataset)
    state = check_states.load_states(db, dataset_id=summary.id)[Check.DIFFICULTY]
    outcomes = load_jury_outcomes(db, dataset_id=summary.id, state=state, question_ids=question_row_ids)
    return {number: outcome.tier for number, outcome in outcomes.items() if outcome.tier is not None}


def load_question_votes(db: Session, *, by: Person, question_row_id: int) -> list[VoteDetails]:
    """Return all votes on a question with their reasons, those by earlier criteria included."""
    require(by, Action.SEE_CHECKS)
    details = []
    for judge, vote in jury_storage.list_votes_of_question(db, question_id=question_row_id):
        criteria = _load_criteria(db, judge.prompt)
        reasons: tuple[str, ...] = ()
        if vote.answers and judge.model_run is not None:
            reply = models.find_reply(db, by=by, name=judge.model_run, custom_id=str(question_row_id))
            reasons = read_answers(reply, criteria)[1] if reply is not None else ()
        details.append(VoteDetails(judge=judge, items=criteria, vote=vote, reasons=reasons))
    return details


def _iterate_outcomes(
    db: Session, dataset_id: int, check: Check, prompt: str
) -> Iterator[tuple[int, JuryOutcome]]:
    criteria = _load_criteria(db, prompt)
    block: list[tuple[int, list[Vote]]] = []

    def decide_block() -> Iterator[tuple[int, JuryOutcome]]:
        stated_difficulties = _load_stated(db, check, [number for number, _ in block])
        for number, votes in block:
            yield number, decide(check, criteria, votes, stated=stated_difficulties.get(number))
        block.clear()

    for votes_of_question in jury_storage.iterate_votes(
        db, dataset_id=dataset_id, check=check, prompt=prompt
    ):
        block.append(votes_of_question)
        if len(block) == _AT_ONCE:
            yield from decide_block()
    if block:
        yield from decide_block()


def _load_stated(db: Session, check: Check, numbers: Collection[int]) -> dict[int, Difficulty]:
    """Return the stated difficulties, which only the check of the difficulty needs."""
    if check is not Check.DIFFICULTY:
        return {}
    return jury_storage.load_difficulties(db, question_ids=numbers)


def _load_criteria(db: Session, label: str) -> tuple[JuryCriterion, ...]:
    version = find_prompt(db, label=label)
    if version is None:
        raise ValueError(f"there is no prompt {label}")
    return read_criteria(parse_prompt(version.content))


def _read_vote(reply: models.RunReply, family: str, criteria: tuple[JuryCriterion, ...]) -> Vote:
    if reply.output is None:
        return Vote(family=family, answers=(), failure=reply.failure)
    try:
        return Vote(family=family, answers=read_answers(reply.output, criteria)[0])
    except InvalidValue as error:
        return Vote(family=family, answers=(), failure=f"reply of another form: {error.reason}")


def _count_answers(
    check: Check, criteria: tuple[JuryCriterion, ...], counts: Collection[jury_storage.AnswerCount]
) -> Iterator[ItemCounts]:
    families = sorted({count.family for count in counts if count.answers})
    for index, criterion in enumerate(criteria):
        for family in families:
            answers = dict.fromkeys(list_allowed_answers(check), 0)
            for count in counts:
                if count.family == family and count.answers:
                    answers[count.answers[index]] += count.questions
            yield ItemCounts(item=criterion, family=family, answers=answers)
