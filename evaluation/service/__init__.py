"""Services for evaluations of models, for pages and commands."""

from typing import TYPE_CHECKING

from domain.lazy_imports import import_on_use

if TYPE_CHECKING:
    from evaluation.service.answer_extraction import (
        ExtractionCounts,
        count_extractions,
        create_extraction_run,
        find_extraction_run,
    )
    from evaluation.service.answer_reason import (
        JudgedEvaluation,
        calibrate_on_experts,
        check_experts,
        create_judge_run,
        find_judge_run,
        load_judged,
    )
    from evaluation.service.answers import StoredAnswers, import_answers, store_records, store_replies
    from evaluation.service.command_runs import run_command_evaluation
    from evaluation.service.model_cases import CaseAnswer, ModelCase, open_case
    from evaluation.service.plan_job import EVALUATION_PLAN, PlanParameters
    from evaluation.service.plans import (
        PlanSettings,
        describe_model,
        list_evaluations,
        load_evaluation,
        plan_with_endpoint,
        plan_without_endpoint,
    )
    from evaluation.service.results import (
        EvaluationAnswers,
        load_answers,
        load_exported_answers,
        open_results,
    )
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
    from evaluation.service.scores import (
        MODEL_SCORES,
        EvaluatedSplit,
        EvaluationScores,
        ScoreParameters,
        SplitScores,
        compute_scores,
        find_evaluated_split,
        import_score_columns,
        list_evaluated_splits,
        load_split_scores,
        load_text_pairs,
        open_scores,
    )
else:
    __getattr__ = import_on_use(__name__)

__all__ = [
    "EVALUATION",
    "EVALUATION_PLAN",
    "MODEL_SCORES",
    "CaseAnswer",
    "ConditionProgress",
    "EvaluatedSplit",
    "EvaluationAnswers",
    "EvaluationParameters",
    "EvaluationProgress",
    "EvaluationScores",
    "ExtractionCounts",
    "JudgedEvaluation",
    "ModelCase",
    "PlanParameters",
    "PlanSettings",
    "ScoreParameters",
    "SplitScores",
    "StoredAnswers",
    "calibrate_on_experts",
    "check_experts",
    "compute_scores",
    "count_extractions",
    "create_extraction_run",
    "create_judge_run",
    "describe_model",
    "describe_progress",
    "find_evaluated_split",
    "find_extraction_run",
    "find_judge_run",
    "import_answers",
    "import_score_columns",
    "list_evaluated_splits",
    "list_evaluations",
    "list_request_runs",
    "load_answers",
    "load_evaluation",
    "load_exported_answers",
    "load_judged",
    "load_progress",
    "load_split_scores",
    "load_text_pairs",
    "open_case",
    "open_evaluation",
    "open_results",
    "open_scores",
    "pause_evaluation",
    "plan_with_endpoint",
    "plan_without_endpoint",
    "run_command_evaluation",
    "store_records",
    "store_replies",
    "work_on_evaluation",
]
