"""Builds the request of a case: the announced radiographs, then the question with its options.

A request has nothing of the report, the key, the explanation, the patient or the indication.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from domain.errors import InvalidValue
from domain.evaluations import Condition, EvaluatedExam, EvaluationCase, ImageSize
from domain.exams import Radiograph
from domain.questions import Question, option_letter
from domain.vocabulary import View
from evaluation.cases import EvaluatedQuestion
from language_models.prompts import Prompt
from language_models.requests import ImageFormat, ImageReference, ModelRequest

#: The default prompt.
DEFAULT_PROMPT = Path(__file__).parent / "prompts" / "evaluation.toml"
#: The variables that a prompt of an evaluation may use; the first two are required.
VARIABLES = ("question", "options", "instruction")
_REQUIRED = VARIABLES[:2]
_FORMATS = {ImageSize.FULL: ImageFormat.PNG, ImageSize.QUARTER: ImageFormat.QUARTER_PNG}
_VIEW_NAMES = {
    View.PA: "PA",
    View.AP: "AP",
    View.LATERAL: "lateral",
    View.OTHER: "other view",
    View.UNKNOWN: "view not stated",
}


def check_prompt(prompt: Prompt) -> None:
    """Check that a prompt can be filled in by an evaluation.

    Raises:
        InvalidValue: it uses other variables, lacks the question or the options, or has examples with
            radiographs.
    """
    unknown_variables = sorted(set(prompt.variables) - set(VARIABLES))
    if unknown_variables:
        raise InvalidValue(
            "prompt",
            f"{prompt.name} uses the variable {', '.join(unknown_variables)}; an evaluation has "
            f"{', '.join(VARIABLES)}",
        )
    missing_variables = [name for name in _REQUIRED if name not in prompt.variables]
    if missing_variables:
        raise InvalidValue(
            "prompt", f"{prompt.name} does not use the variable {', '.join(missing_variables)}"
        )
    if any(example.images for example in prompt.examples):
        raise InvalidValue(
            "prompt",
            f"{prompt.name} has examples with radiographs, which would also be in requests without image",
        )


def build_request(
    item: EvaluatedQuestion,
    case: EvaluationCase,
    *,
    condition: Condition,
    prompt: Prompt,
    image_size: ImageSize,
    exams: Mapping[int, EvaluatedExam],
) -> ModelRequest:
    """Build the request of a case.

    Args:
        item: the question.
        case: what is shown instead of the question's own stem, order of options and radiographs.
        condition: the condition of the case.
        prompt: the prompt, which :func:`check_prompt` accepts.
        image_size: the size of the PNG files.
        exams: the exams of the plan by their id in the database.
    """
    values = build_values(item.question, case)
    request = prompt.build_request(
        custom_id=str(item.number), values={name: values[name] for name in prompt.variables}
    )
    if not condition.shows_images:
        return request
    exam = exams[case.other_exam] if case.other_exam is not None else item.exam
    *earlier, last = request.body["messages"]
    text = {"type": "text", "text": last["content"]}
    parts = [*_announce_images(exam.radiographs, _FORMATS[image_size]), text]
    return ModelRequest(
        custom_id=request.custom_id,
        body={**request.body, "messages": [*earlier, {**last, "content": parts}]},
    )


def build_values(question: Question, case: EvaluationCase) -> dict[str, str]:
    """Return the values of :data:`VARIABLES` for a case."""
    return {
        "question": case.stem or question.stem,
        "options": "".join(
            f"{option_letter(index)}. {text}\n"
            for index, text in enumerate(list_shown_options(question.options, case))
        ),
        "instruction": question.format.instruction,
    }


def list_shown_options(options: tuple[str, ...], case: EvaluationCase) -> tuple[str, ...]:
    """Return the options of the release in the order of a case."""
    if case.permutation is None:
        return options
    return tuple(options[index] for index in case.permutation)


def name_view(view: View) -> str:
    """Return the name of a view as a model reads it."""
    return _VIEW_NAMES[view]


def _announce_images(radiographs: Sequence[Radiograph], image_format: ImageFormat) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for number, radiograph in enumerate(radiographs, start=1):
        if radiograph.sha256 is None:
            raise ValueError(f"radiograph {radiograph.id} has no image; choose_cases excludes such questions")
        image = ImageReference(sha256=radiograph.sha256, format=image_format)
        announcement = f"Radiograph {number} of {len(radiographs)}: {name_view(radiograph.view)}."
        parts.append({"type": "text", "text": announcement})
        parts.append({"type": "image_url", "image_url": {"url": image.address}})
    return parts
