"""Services for the condition "paraphrased".

A model rewrites the stems, the paraphrases are tested, and the evaluated model answers them.
"""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.evaluations import Condition, EvaluationRun
from domain.language_models import ModelRun
from domain.people import Action, Person, require
from evaluation.paraphrases import choose_paraphrased_cases
from evaluation.service.plans import (
    STAGE,
    PlanSettings,
    add_run,
    build_requests,
    load_evaluated_questions,
    name_model_run,
    name_paraphrase_run,
)
from language_models import service as models
from language_models.prompts import parse_prompt
from release.splits import Split
from storage.evaluation import evaluations as evaluation_storage
from storage.language_models import runs


def find_paraphrase_run(db: Session, *, by: Person, name: str) -> ModelRun | None:
    """Return the run that writes the paraphrases of an evaluation; None if it was not planned."""
    require(by, Action.RUN_MODELS)
    return runs.find_run(db, name=name_paraphrase_run(name))


def add_paraphrased_condition(db: Session, *, by: Person, name: str, now: datetime) -> EvaluationRun:
    """Test the paraphrases, and create the run of those that keep the meaning. A second call changes nothing.

    The run goes to the endpoint of the condition "as given", with its prompt and limits.

    Raises:
        NotFound: there is no such evaluation, or the folder of its release is missing.
        Refused: the dataset does not permit the endpoint any more.
    """
    require(by, Action.RUN_MODELS)
    evaluation = evaluation_storage.load_evaluation(db, name=name)
    by_condition = {
        run.condition: run for run in evaluation_storage.list_runs(db, evaluation_id=evaluation.id)
    }
    as_given_run = by_condition[Condition.AS_GIVEN]
    evaluation_storage.lock_run(db, run_id=as_given_run.id)
    by_condition = {
        run.condition: run for run in evaluation_storage.list_runs(db, evaluation_id=evaluation.id)
    }
    if Condition.PARAPHRASED in by_condition:
        return by_condition[Condition.PARAPHRASED]
    settings = PlanSettings(
        name=evaluation.name,
        dataset=evaluation.dataset,
        release=evaluation.release,
        split=Split(evaluation.split),
        conditions=(Condition.PARAPHRASED,),
        image_size=evaluation.image_size,
        seed=evaluation.seed,
    )
    questions = load_evaluated_questions(db, evaluation)
    replies = {
        int(custom_id): reply
        for custom_id, reply, _ in models.iterate_reply_texts(db, by=by, name=name_paraphrase_run(name))
        if reply is not None
    }
    choice = choose_paraphrased_cases(
        questions, evaluation_storage.load_cases(db, run_id=as_given_run.id), replies
    )
    model_run_id: int | None = None
    if choice.cases:
        as_given_model_run = models.load_run(db, by=by, name=as_given_run.model_run or "")
        version = models.load_prompt(db, by=by, label=evaluation.prompt or "")
        model_run, _ = models.create_run(
            db,
            by=by,
            name=name_model_run(name, Condition.PARAPHRASED),
            stage=STAGE,
            endpoint=as_given_model_run.endpoint,
            dataset=evaluation.dataset,
            requests=build_requests(
                questions,
                choice,
                condition=Condition.PARAPHRASED,
                prompt=parse_prompt(version.content),
                size=evaluation.image_size,
            ),
            prompt=version,
            budget=as_given_model_run.budget,
            now=now,
        )
        model_run_id = model_run.id
    add_run(
        db, settings, evaluation.id, Condition.PARAPHRASED, choice, by=by, model_run_id=model_run_id, now=now
    )
    record_action(
        db,
        by=by,
        action="test paraphrases of evaluation",
        subject=f"evaluation {evaluation.id}",
        new={"kept": len(choice.cases), **choice.excluded},
        now=now,
    )
    by_condition = {
        run.condition: run for run in evaluation_storage.list_runs(db, evaluation_id=evaluation.id)
    }
    return by_condition[Condition.PARAPHRASED]
