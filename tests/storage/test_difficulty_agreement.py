"""Difficulties and yes/no fields of checks against reviewers in a real database."""

from __future__ import annotations

import pytest
from sklearn.metrics import cohen_kappa_score

from accounts.service import command_line_person
from domain.checks import Check
from domain.errors import NotAllowed
from domain.juries import CriterionAnswer, Vote
from domain.people import Person, Role
from language_models import service as models
from quality.juries.criteria import read_shipped_prompt
from quality.service import store_jury_results
from review.check_measurement_text import format_kappa
from review.service import DifficultySource, measure_checks, measure_difficulty
from storage.quality import juries as jury_storage
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import make_acceptance, save_verdict
from tests.storage.worlds import NOW, TIERS, make_world

BY = command_line_person()
#: The index of the tier that the reviewer chooses for questions 1 to 12; they state easy, medium, hard, ...
CHOSEN = [0, 1, 2, 0, 0, 2, 0, 1, 1, 1, 1, 2]


@pytest.fixture
def world(engine):
    return make_world(engine, assigned_to=("ruth",))


def judge(world, **fields):
    for question, tier in enumerate(CHOSEN, start=1):
        verdict = make_acceptance(world, question=question, difficulty=TIERS[tier], **fields)
        save_verdict(world, verdict)


def store_votes(world, check, answers_by_question):
    """Store the votes of two families that agree."""
    with unit_of_work(world.engine) as db:
        prompt = models.save_shipped_prompt(db, by=BY, content=read_shipped_prompt(check), now=NOW)
        jury = jury_storage.add_jury(
            db, dataset_id=1, questions=12, unknown_authors=12, written_by=None, override_reason="",
            person_id=None, now=NOW,
        )  # fmt: skip
        for family in ("qwen", "gpt"):
            jury_storage.add_judge(
                db, jury_id=jury, check=check, family=family, model=family, is_test_model=False,
                prompt_id=prompt.id, model_run_id=None, excluded=(),
            )  # fmt: skip
        for judge_of_jury in jury_storage.load_jury(db, jury_id=jury).judges:
            votes = [
                (number, Vote(family=judge_of_jury.family, answers=answers))
                for number, answers in answers_by_question.items()
            ]
            jury_storage.replace_votes(db, judge_id=judge_of_jury.id, votes=votes)
        store_jury_results(db, by=BY, dataset="demo", check=check, prompt=prompt.label, now=NOW)


def measure(world):
    with read_only_session(world.engine) as db:
        return {entry.source: entry.kappa for entry in measure_difficulty(db, by=BY, dataset="demo")}


def test_the_kappa_of_the_stated_difficulty_equals_that_of_scikit_learn(world):
    judge(world)
    kappa = measure(world)[DifficultySource.STATED]
    stated = [index % 3 for index in range(12)]
    assert kappa.estimate == pytest.approx(cohen_kappa_score(CHOSEN, stated, weights="quadratic"))
    assert kappa.n == 12
    assert kappa.low < kappa.estimate < kappa.high


def test_the_tiers_of_a_jury_are_compared_on_questions_that_both_judged(world):
    judge(world)
    store_votes(
        world, Check.DIFFICULTY, {n: (CriterionAnswer(TIERS[CHOSEN[n - 1]].value),) for n in (1, 2, 3, 4)}
    )
    kappa = measure(world)[DifficultySource.JURY]
    assert (kappa.estimate, kappa.n) == (1.0, 4)
    assert format_kappa(kappa).startswith("1.00 (")


def test_kappa_is_not_measured_without_verdicts_or_votes(world):
    assert {format_kappa(kappa) for kappa in measure(world).values()} == {"not measured yet (n = 0)"}
    judge(world)
    assert format_kappa(measure(world)[DifficultySource.JURY]) == "not measured yet (n = 0)"


def test_a_content_check_is_measured_against_the_yes_or_no_of_reviewers(world):
    """Reviewers deny questions 1 to 3; the jury denies 2 to 5: precision 2/4, recall 2/3, specificity 7/9."""
    for question in range(1, 13):
        save_verdict(world, make_acceptance(world, question=question, cognitive_depth=question > 3))
    yes, no = CriterionAnswer.YES, CriterionAnswer.NO
    votes = {n: (yes, no, yes) if n in (2, 3, 4, 5) else (yes, yes, yes) for n in range(1, 13)}
    store_votes(world, Check.COGNITIVE_DEPTH, votes)
    with read_only_session(world.engine) as db:
        measurements = measure_checks(db, by=BY, dataset="demo")
    [measurement] = [entry for entry in measurements if entry.check is Check.COGNITIVE_DEPTH]
    rates = (measurement.precision, measurement.recall, measurement.specificity)
    assert [(rate.hits, rate.n) for rate in rates] == [(2, 4), (2, 3), (7, 9)]
    assert measurement.target == "“More than recall” answered with no"


def test_a_reader_may_not_see_the_agreement(world):
    reader = Person(id=99, name="r", display_name="R", roles=frozenset({Role.READER}))
    with read_only_session(world.engine) as db, pytest.raises(NotAllowed):
        measure_difficulty(db, by=reader, dataset="demo")
