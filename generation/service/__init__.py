"""Services for the generation of questions: recipes with language models, and checks of grounded reports."""

from typing import TYPE_CHECKING

from domain.lazy_imports import import_on_use

if TYPE_CHECKING:
    from generation.service.recipes import (
        PILOT_EXAMS,
        GenerationPlan,
        GenerationResult,
        RecipeCounts,
        StageRun,
        choose_pilot_exams,
        describe_forecast,
        left_out_path,
        prepare_stage,
        run_recipe,
        write_recipe_questions,
    )
    from generation.service.region_checks import (
        CHECKED_STAGE,
        assign_region_experts,
        create_region_check,
        list_region_checks,
        list_region_marks,
        list_region_tasks,
        load_region_check,
        load_region_report,
        mark_sentence,
        open_sentence,
    )
else:
    __getattr__ = import_on_use(__name__)

__all__ = [
    "CHECKED_STAGE",
    "PILOT_EXAMS",
    "GenerationPlan",
    "GenerationResult",
    "RecipeCounts",
    "StageRun",
    "assign_region_experts",
    "choose_pilot_exams",
    "create_region_check",
    "describe_forecast",
    "left_out_path",
    "list_region_checks",
    "list_region_marks",
    "list_region_tasks",
    "load_region_check",
    "load_region_report",
    "mark_sentence",
    "open_sentence",
    "prepare_stage",
    "run_recipe",
    "write_recipe_questions",
]
