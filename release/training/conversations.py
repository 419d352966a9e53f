"""Writes a released question as one conversation for instruction tuning.

The texts are those of GEMeX (section 4.1 of the paper, and the released files): the type prompt as system
message, the question with its choices, and the answer with reason and location.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from domain.boxes import Box
from domain.questions import Question
from domain.vocabulary import View
from release.formats.gemex import PROMPTS, assistant_turns, format_choices, format_key
from release.training.box_formats import BoxFormat, ImageSize, convert_box, format_boxes

#: Stands for an image in a text, in the files of LLaMA-Factory and ms-swift.
IMAGE = "<image>"


class TrainingLibrary(StrEnum):
    """The libraries whose files can be written."""

    TRL = "trl"
    LLAMA_FACTORY = "llama-factory"
    MS_SWIFT = "ms-swift"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingImage:
    """One image of an example: its path in the exported folder, its view, and its size in the release."""

    path: str
    view: View
    size: ImageSize


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingExample:
    """A question with all images of its exam, in the order of the exam.

    ``boxes`` has the label, the box in pixels of the image, and the index of the image.
    """

    question: Question
    images: tuple[TrainingImage, ...]
    boxes: tuple[tuple[str, Box, int], ...]


def encode_example(example: TrainingExample, library: TrainingLibrary, form: BoxFormat) -> dict[str, Any]:
    """Return the record of an example in the file of a library.

    ms-swift gets the boxes in pixels and converts them for each model, so ``form`` has no effect for it.

    Raises:
        InvalidValue: no part of a box is on its image.
    """
    question, images = example.question, example.images
    answer = assistant_turns(question, format_key(question), [])[0]
    objects: dict[str, Any] = {}
    if example.boxes and library is TrainingLibrary.MS_SWIFT:
        answer += f" <location> {' '.join(['<ref-object><bbox>'] * len(example.boxes))}"
        objects = {
            "objects": {
                "ref": [label for label, _, _ in example.boxes],
                "bbox": [
                    convert_box(box, BoxFormat.PIXELS, images[image].size) for _, box, image in example.boxes
                ],
                "image_id": [image for _, _, image in example.boxes],
            }
        }
    elif example.boxes:
        converted = [
            (label, convert_box(box, form, images[image].size), image) for label, box, image in example.boxes
        ]
        answer += f" <location> {format_boxes(converted, form, images=len(images))}"
    turns = (
        ("system", PROMPTS[question.format]),
        ("user", _format_user_text(example)),
        ("assistant", answer),
    )
    encode_text = _encode_parts if library is TrainingLibrary.TRL else _encode_string
    return {
        "id": question.id,
        "messages": [{"role": role, "content": encode_text(text)} for role, text in turns],
        "images": [image.path for image in images],
        **objects,
    }


def _format_user_text(example: TrainingExample) -> str:
    """Return the question below its images. Several images are announced by number and view."""
    question = example.question
    choices = f" <choices>: [{', '.join(format_choices(question))}]" if question.options else ""
    return f"{_announce_images(example.images)}\n{question.stem}{choices}"


def _announce_images(images: Sequence[TrainingImage]) -> str:
    if len(images) == 1:
        return IMAGE
    return "\n".join(
        f"Image {number}{'' if image.view is View.UNKNOWN else f' ({image.view})'}: {IMAGE}"
        for number, image in enumerate(images, start=1)
    )


def _encode_string(text: str) -> str:
    return text


def _encode_parts(text: str) -> list[dict[str, str]]:
    """Return a text as the parts that TRL expects, with one part per image."""
    parts: list[dict[str, str]] = []
    for index, piece in enumerate(text.split(IMAGE)):
        if index:
            parts.append({"type": "image"})
        if piece:
            parts.append({"type": "text", "text": piece})
    return parts
