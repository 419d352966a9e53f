"""Services that run checks on the questions of a dataset and store what they report.

A run reads blocks of questions and stores the results of each block in a transaction of its own, together
with the id up to which the check has run. A run therefore blocks other writers only for moments, and
continues after a stop where it was. Later runs check only new questions. A check whose version or settings
changed starts again from the first question.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.checks import CHECKS, CHECKS_ON_IMPORT, Check, Need, Problem, Settings
from domain.count_texts import count_text
from domain.expectations import Expectations
from domain.people import Action, Person, require
from domain.vocabulary import View
from parallel.executors import map_in_order, open_executor
from quality.content_screens import ImageGeometry
from quality.question_checks import QUESTION_CHECKS, BlockResult, DueCheck, QuestionBlock, check_block
from quality.service.settings import current_settings
from storage.intake import datasets
from storage.quality import check_states, problems, question_blocks
from storage.quality.check_states import CheckState
from storage.unit_of_work import read_only_session, unit_of_work

BLOCK_SIZE = 2_000
#: Fewer questions are checked in this process, because starting other processes takes some seconds.
_FEW_QUESTIONS = 40_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """A finished run. ``problems`` has the number of problems that each check reported in this run.

    ``questions`` is the number of questions that at least one check was due for.
    """

    dataset: str
    dataset_id: int
    questions: int
    problems: Mapping[Check, int]

    @property
    def message(self) -> str:
        """One sentence for the user."""
        if not self.problems:
            return "No check is switched on."
        if not self.questions:
            return "All checks that are switched on have run on all questions."
        counts = [f"{check.label} {count:,}" for check, count in self.problems.items() if count]
        return f"Checked {count_text(self.questions, 'question')}. Problems: {', '.join(counts) or 'none'}."


def run_checks(
    *,
    by: Person,
    dataset: str,
    checks: Collection[Check] | None = None,
    clock: Callable[[], datetime],
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    executor: Executor | None = None,
    read_session: Callable[[], AbstractContextManager[Session]] = read_only_session,
    transaction: Callable[[], AbstractContextManager[Session]] = unit_of_work,
) -> CheckRun:
    """Run checks on the questions of a dataset for which they are due. Record the run with `finish_run`.

    Args:
        by: the acting person.
        dataset: the name of the dataset.
        checks: the checks to run; None for all that are switched on and judge one question at a time.
        clock: returns the current time.
        progress: a function that is called with the number of checked questions and the number of questions.
        executor: checks several blocks at a time; None to choose by the number of questions.
        read_session: opens a read-only session.
        transaction: opens a session that is committed at the end.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.IMPORT_QUESTIONS)
    with read_session() as db:
        summary = datasets.load_dataset(db, name=dataset)
        states = check_states.load_states(db, dataset_id=summary.id)
        expected = datasets.load_expectations(db, dataset_id=summary.id)
        chosen_checks = [
            check for check in QUESTION_CHECKS if (states[check].is_on if checks is None else check in checks)
        ]
        due = tuple(_plan_check(states[check], current_settings(check, summary)) for check in chosen_checks)
        after = min((due_check.after for due_check in due), default=0)
        total = question_blocks.count_questions(db, dataset_id=summary.id, after=after) if due else 0
    missing = {
        due_check.check: Counter(states[due_check.check].missing_needs if due_check.after else {})
        for due_check in due
    }
    problem_counts = dict.fromkeys(chosen_checks, 0)
    done = 0
    blocks = _read_blocks(read_session, summary.id, after=after, expected=expected, due=due) if total else ()
    for result in _check_blocks(blocks, executor, questions=total):
        for check, counts in result.missing.items():
            missing[check].update(counts)
            problem_counts[check] += len(result.problems[check])
        with transaction() as db:
            _store_block(db, summary.id, due, result, missing=missing, after=after, now=clock())
        after = result.through
        done += result.questions
        progress(done, total)
    return CheckRun(dataset=dataset, dataset_id=summary.id, questions=total, problems=problem_counts)


def finish_run(db: Session, *, by: Person, run: CheckRun, now: datetime) -> None:
    """Record a run in the audit trail."""
    require(by, Action.IMPORT_QUESTIONS)
    record_action(
        db,
        by=by,
        action="check questions",
        subject=f"dataset {run.dataset_id}",
        new={
            "checks": {check.value: CHECKS[check].version for check in run.problems},
            "questions": run.questions,
            "problems": {check.value: count for check, count in run.problems.items()},
        },
        now=now,
    )


def record_results(
    db: Session,
    *,
    by: Person,
    dataset: str,
    check: Check,
    settings: Settings,
    through: int,
    problems_found: Iterable[tuple[int, Problem]],
    missing: Mapping[Need, int] | None = None,
    now: datetime,
) -> None:
    """Replace the results of a check that needs more than one question at a time, such as near-duplicates.

    Args:
        db: a session that can write.
        by: the acting person.
        dataset: the name of the dataset.
        check: the check; not one of ``QUESTION_CHECKS``.
        settings: the settings with which it ran.
        through: the highest question id that was included; 0 if there was no question.
        problems_found: (question id, problem) of the questions with a problem; at most one problem per
            question and field. All other questions passed, except those in ``missing``.
        missing: the number of questions that were not checked, by what they lack.
        now: the current time.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.IMPORT_QUESTIONS)
    if check in QUESTION_CHECKS:
        raise ValueError(f"{check} is run by run_checks")
    summary = datasets.load_dataset(db, name=dataset)
    found_problems = list(problems_found)
    problems.replace_problems(db, dataset_id=summary.id, check=check, problems=found_problems)
    state = check_states.load_states(db, dataset_id=summary.id)[check]
    check_states.save_state(
        db,
        dataset_id=summary.id,
        state=replace(
            state,
            version=CHECKS[check].version,
            settings=dict(settings),
            checked_through=through,
            missing_needs=dict(missing or {}),
            checked_at=now,
        ),
    )
    run = CheckRun(
        dataset=dataset,
        dataset_id=summary.id,
        questions=summary.questions,
        problems={check: len(found_problems)},
    )
    finish_run(db, by=by, run=run, now=now)


def _plan_check(state: CheckState, settings: Settings) -> DueCheck:
    is_current = state.version == CHECKS[state.check].version and dict(state.settings) == dict(settings)
    after = state.checked_through if is_current else 0
    return DueCheck(check=state.check, settings=settings, after=after)


def _read_blocks(
    read_session: Callable[[], AbstractContextManager[Session]],
    dataset_id: int,
    *,
    after: int,
    expected: Mapping[int, Expectations],
    due: tuple[DueCheck, ...],
) -> Iterator[QuestionBlock]:
    while True:
        with read_session() as db:
            rows = question_blocks.load_block(db, dataset_id=dataset_id, after=after, count=BLOCK_SIZE)
            radiographs = load_radiographs(
                db, dataset_id=dataset_id, after=after, through=rows[-1][0] if rows else 0
            )
        if not rows:
            return
        # A file that is being imported at the same time is left to the next run.
        imported_rows = [row for row in rows if row[1] in expected]
        if imported_rows:
            yield QuestionBlock(rows=imported_rows, expected=expected, radiographs=radiographs, due=due)
        if len(imported_rows) < len(rows):
            return
        after = rows[-1][0]


def load_radiographs(
    db: Session, *, dataset_id: int, after: int, through: int
) -> dict[str, tuple[ImageGeometry, ...]]:
    """Load the radiographs of exams with boxes by the key of the exam, for the questions of a range of ids.

    The function checks no permission.

    Args:
        db: a read-only session.
        dataset_id: the id of the dataset.
        after: the range begins above this question id.
        through: the last question id of the range.
    """
    widths = question_blocks.load_image_widths(db, dataset_id=dataset_id, after=after, through=through)
    return {
        exam: tuple(
            ImageGeometry(radiograph=key, view=View(view), columns=columns) for key, view, columns in images
        )
        for exam, images in widths.items()
    }


def _check_blocks(
    blocks: Iterable[QuestionBlock], executor: Executor | None, *, questions: int
) -> Iterator[BlockResult]:
    """Check blocks and yield the results in order; large runs use several processes."""
    if executor is not None:
        yield from map_in_order(executor, check_block, blocks)
    elif questions < _FEW_QUESTIONS:
        yield from map(check_block, blocks)
    else:
        with open_executor() as processes:
            yield from map_in_order(processes, check_block, blocks)


def _store_block(
    db: Session,
    dataset_id: int,
    due: Sequence[DueCheck],
    result: BlockResult,
    *,
    missing: Mapping[Check, Mapping[Need, int]],
    after: int,
    now: datetime,
) -> None:
    due_here = [due_check for due_check in due if due_check.after < result.through]
    for start, group in itertools.groupby(due_here, key=lambda due_check: max(after, due_check.after)):
        problems.replace_problems_of_block(
            db,
            dataset_id=dataset_id,
            after=start,
            through=result.through,
            problems={due_check.check: result.problems[due_check.check] for due_check in group},
        )
    # Loaded again: a check may have been switched off meanwhile.
    states = check_states.load_states(db, dataset_id=dataset_id)
    check_states.save_states(
        db,
        dataset_id=dataset_id,
        states=[
            replace(
                states[due_check.check],
                version=CHECKS[due_check.check].version,
                settings=dict(due_check.settings),
                checked_through=result.through,
                missing_needs=dict(missing[due_check.check]),
                checked_at=now,
            )
            for due_check in due_here
        ],
    )


def is_checked(state: CheckState, *, question_id: int) -> bool:
    """Whether a check has run on a question. The import runs the structural checks on each new question."""
    return question_id <= state.checked_through or state.check in CHECKS_ON_IMPORT
