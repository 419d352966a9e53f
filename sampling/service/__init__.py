"""Services for previewing and drawing batches, and for the risk of errors in a dataset's questions."""

from typing import TYPE_CHECKING

from domain.lazy_imports import import_on_use

if TYPE_CHECKING:
    from sampling.service.draws import (
        MAX_NAME_LENGTH,
        DrawPreview,
        DrawResult,
        describe_plan,
        draw_batch,
        list_batch_questions,
        list_batches,
        list_drawable_datasets,
        load_nonrandom_batch_ids,
        preview_draw,
    )
    from sampling.service.risk import (
        RiskOverview,
        compare_strategies,
        describe_risk,
        list_seeds,
        load_frame_risks,
    )
else:
    __getattr__ = import_on_use(__name__)

__all__ = [
    "MAX_NAME_LENGTH",
    "DrawPreview",
    "DrawResult",
    "RiskOverview",
    "compare_strategies",
    "describe_plan",
    "describe_risk",
    "draw_batch",
    "list_batch_questions",
    "list_batches",
    "list_drawable_datasets",
    "list_seeds",
    "load_frame_risks",
    "load_nonrandom_batch_ids",
    "preview_draw",
]
