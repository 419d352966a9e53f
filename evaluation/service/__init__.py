"""Services for evaluations of models, for pages and commands."""

from evaluation.service.answers import StoredAnswers, import_answers, store_records, store_replies
from evaluation.service.command_runs import work_with_command
from evaluation.service.plans import (
    PlanSettings,
    describe_model,
    list_evaluations,
    load_evaluation,
    plan_with_endpoint,
    plan_without_endpoint,
)
from evaluation.service.results import EvaluationAnswers, load_answers, load_exported_answers, open_results
from evaluation.service.run_job import (
    EVALUATION,
    ConditionProgress,
    EvaluationParameters,
    EvaluationProgress,
    describe_progress,
    list_request_runs,
    load_progress,
    open_evaluation,
    pause_evaluation,
    work_on_evaluation,
)

__all__ = [
    "EVALUATION",
    "ConditionProgress",
    "EvaluationAnswers",
    "EvaluationParameters",
    "EvaluationProgress",
    "PlanSettings",
    "StoredAnswers",
    "describe_model",
    "describe_progress",
    "import_answers",
    "list_evaluations",
    "list_request_runs",
    "load_answers",
    "load_evaluation",
    "load_exported_answers",
    "load_progress",
    "open_evaluation",
    "open_results",
    "pause_evaluation",
    "plan_with_endpoint",
    "plan_without_endpoint",
    "store_records",
    "store_replies",
    "work_on_evaluation",
    "work_with_command",
]
