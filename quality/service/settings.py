"""Services that switch checks of a dataset on and off, and change their settings."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.checks import Check, Settings
from domain.errors import InvalidValue
from domain.people import Action, Person, require
from quality.question_checks import QUESTION_CHECKS
from storage.intake import datasets
from storage.intake.datasets import DatasetSummary
from storage.quality import check_states
from storage.quality.check_states import CheckState


def switch_check(db: Session, *, by: Person, dataset: str, check: Check, is_on: bool, now: datetime) -> None:
    """Switch a check of a dataset on or off.

    A check that is off is not run, and its problems do not count. They are kept, so that the check can be
    switched on again.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.IMPORT_QUESTIONS)
    summary = datasets.load_dataset(db, name=dataset)
    state = check_states.load_states(db, dataset_id=summary.id)[check]
    if state.is_on == is_on:
        return
    check_states.save_state(db, dataset_id=summary.id, state=replace(state, is_on=is_on))
    record_action(
        db,
        by=by,
        action="switch check",
        subject=f"dataset {summary.id}",
        old={"check": check.value, "is_on": state.is_on},
        new={"check": check.value, "is_on": is_on},
        now=now,
    )


def reset_checks(db: Session, *, by: Person, dataset: str, now: datetime) -> None:
    """Let the next run check all questions again, for example because reports were imported later.

    Until then, the results of the last run remain.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.IMPORT_QUESTIONS)
    summary = datasets.load_dataset(db, name=dataset)
    states = check_states.load_states(db, dataset_id=summary.id)
    active_checks = [check for check in QUESTION_CHECKS if states[check].is_on]
    check_states.restart_checks(db, dataset_id=summary.id, checks=active_checks)
    record_action(db, by=by, action="check all questions again", subject=f"dataset {summary.id}", now=now)


def set_minimum_explanation(db: Session, *, by: Person, dataset: str, characters: int, now: datetime) -> None:
    """Change the minimum length of an explanation, which the check of the format uses at its next run.

    Raises:
        NotFound: there is no such dataset.
        InvalidValue: the minimum is below 0.
    """
    require(by, Action.IMPORT_QUESTIONS)
    summary = datasets.load_dataset(db, name=dataset)
    if characters < 0:
        raise InvalidValue("minimum_explanation", f"must be 0 or more characters, not {characters}")
    if characters == summary.minimum_explanation:
        return
    datasets.set_minimum_explanation(db, dataset_id=summary.id, characters=characters)
    record_action(
        db,
        by=by,
        action="change settings of check",
        subject=f"dataset {summary.id}",
        old={"minimum_explanation": summary.minimum_explanation},
        new={"minimum_explanation": characters},
        now=now,
    )


def current_settings(check: Check, summary: DatasetSummary) -> Settings:
    """Return the settings with which a check of the dataset runs now."""
    return {"minimum_explanation": summary.minimum_explanation} if check is Check.FORMAT else {}


def has_current_settings(state: CheckState, summary: DatasetSummary) -> bool:
    """Whether a check would run again with the same settings as the last time.

    The settings of a search for near-duplicates and of a jury are chosen each time, so they are current.
    """
    return state.check not in QUESTION_CHECKS or dict(state.settings) == dict(
        current_settings(state.check, summary)
    )
