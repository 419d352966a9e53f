"""Services for the compliance of a dataset: patient data, terms of use, and keys that the text reveals.

The three stages run in this order, as in ReXVQA's compliance check. The result also reports biases. A
question that fails a stage stays in the dataset; the page Checks lists it, and a draw can leave it out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from domain.checks import CHECKS, Check, CheckGroup, Need, Problem
from domain.compliance import TextOnlyAccuracy
from domain.errors import InvalidValue
from domain.people import Action, Person, require
from quality.compliance.bias import BiasLine, OptionBias, measure_bias, measure_option_bias
from quality.compliance.data_use import examine_data_use
from quality.service.runs import finish_run, record_results, run_checks
from quality.service.settings import switch_check
from storage.intake import datasets
from storage.language_models.endpoints import load_data_use
from storage.quality import examined_questions, problems
from storage.unit_of_work import read_only_session, unit_of_work

#: A key to which the classifier gives at least this probability follows from the text alone.
DEFAULT_THRESHOLD = 0.9
#: The checks of the stages, in order.
COMPLIANCE_CHECKS = tuple(
    check for check, declaration in CHECKS.items() if declaration.group is CheckGroup.COMPLIANCE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplianceStage:
    """A stage. ``remaining`` counts the questions without a problem of this stage or an earlier one."""

    check: Check
    with_problem: int
    remaining: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplianceReport:
    """The result of a run.

    ``data_use`` is the dataset's rule. ``text_only_note`` is the reason why ``text_only`` is empty; then
    ``stages`` lacks the text-only stage.
    """

    dataset: str
    questions: int
    patients: int
    threshold: float
    data_use: str
    stages: tuple[ComplianceStage, ...]
    bias: tuple[BiasLine, ...]
    options: tuple[OptionBias, ...]
    text_only: tuple[TextOnlyAccuracy, ...]
    text_only_note: str


def examine_compliance(
    *,
    by: Person,
    dataset: str,
    threshold: float = DEFAULT_THRESHOLD,
    clock: Callable[[], datetime],
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    read_session: Callable[[], AbstractContextManager[Session]] = read_only_session,
    transaction: Callable[[], AbstractContextManager[Session]] = unit_of_work,
) -> ComplianceReport:
    """Run the stages on a dataset in order, switch their checks on, and store the problems.

    Args:
        by: the acting person.
        dataset: the name of the dataset.
        threshold: a key with at least this probability (0 to 1) without the image is a problem.
        clock: returns the current time.
        progress: called with the number of finished steps and of all steps.
        read_session: opens a read-only session.
        transaction: opens a session that is committed at the end.

    Raises:
        NotFound: there is no such dataset.
        InvalidValue: the threshold is not between 0 and 1.
    """
    from quality.compliance.text_only import FOLDS, examine_text_only  # noqa: PLC0415 - imports scikit-learn

    require(by, Action.IMPORT_QUESTIONS)
    if not 0 < threshold <= 1:
        raise InvalidValue("threshold", f"must be above 0 and at most 1, not {threshold:g}")
    step_count = FOLDS + 3
    with read_session() as db:
        summary = datasets.load_dataset(db, name=dataset)
        questions = list(examined_questions.iterate_examined_questions(db, dataset_id=summary.id))
        permitted = load_data_use(db, dataset_id=summary.id)
        data_use_problems = dict(
            examine_data_use(
                examined_questions.iterate_origins(db, dataset_id=summary.id),
                permitted=permitted,
                endpoints=examined_questions.load_run_endpoints(db),
            )
        )
    progress(1, step_count)
    patient_data = run_checks(
        by=by,
        dataset=dataset,
        checks=[Check.PATIENT_DATA],
        clock=clock,
        read_session=read_session,
        transaction=transaction,
    )
    progress(2, step_count)
    bias, options = measure_bias(questions), measure_option_bias(questions)
    progress(3, step_count)
    text_only = examine_text_only(questions, progress=lambda done, _: progress(3 + done, step_count))
    through = questions[-1].number if questions else 0
    # A stage that cannot run leaves no result: its questions would count as passed.
    examined_checks = tuple(
        check for check in COMPLIANCE_CHECKS if check is not Check.TEXT_ONLY or not text_only.note
    )
    data_use_problems = {
        number: problem for number, problem in data_use_problems.items() if number <= through
    }
    with transaction() as db:
        finish_run(db, by=by, run=patient_data, now=clock())
        for check in examined_checks:
            switch_check(db, by=by, dataset=dataset, check=check, is_on=True, now=clock())
        record_results(
            db,
            by=by,
            dataset=dataset,
            check=Check.DATA_USE,
            settings={"permitted": permitted.value},
            through=through,
            problems_found=[
                (number, problem) for number, problem in data_use_problems.items() if problem is not None
            ],
            missing={Need.ORIGIN: len(questions) - len(data_use_problems)},
            now=clock(),
        )
        if not text_only.note:
            record_results(
                db,
                by=by,
                dataset=dataset,
                check=Check.TEXT_ONLY,
                settings={"threshold": threshold},
                through=through,
                problems_found=[
                    (number, _describe_revealed_key(probability))
                    for number, probability in text_only.probabilities.items()
                    if probability >= threshold
                ],
                missing={Need.ONE_ANSWER: sum(not question.has_one_answer for question in questions)},
                now=clock(),
            )
    with read_session() as db:
        stages = _count_stages(
            db, examined_checks, dataset_id=summary.id, questions=len(questions), through=through
        )
    return ComplianceReport(
        dataset=dataset,
        questions=len(questions),
        patients=len({question.patient for question in questions}),
        threshold=threshold,
        data_use=permitted.value,
        stages=stages,
        bias=bias,
        options=options,
        text_only=text_only.accuracies,
        text_only_note=text_only.note,
    )


def _describe_revealed_key(probability: float) -> Problem:
    return Problem(
        check=Check.TEXT_ONLY,
        field="stem",
        reason=f"a classifier that sees the text alone gives the key a probability of {probability:.2f}",
    )


def _count_stages(
    db: Session, checks: Sequence[Check], *, dataset_id: int, questions: int, through: int
) -> tuple[ComplianceStage, ...]:
    stages = []
    for index, check in enumerate(checks):
        failed_count = problems.count_questions_with_problems(
            db, dataset_id=dataset_id, checks=checks[: index + 1], through=through
        )
        own_count = problems.count_questions_with_problems(
            db, dataset_id=dataset_id, checks=[check], through=through
        )
        stages.append(
            ComplianceStage(check=check, with_problem=own_count, remaining=questions - failed_count)
        )
    return tuple(stages)
