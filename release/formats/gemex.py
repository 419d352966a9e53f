"""``gemex/``: GEMeX's test format (``*.jsonl``) and its training conversations in both variants (``*.json``).

Boxes are given on a letterboxed grid of 224 x 224 pixels (the resizing of Chest ImaGenome). The test format
has them without rounding, the conversations as integers, on which models for GEMeX are trained. A rounded box
is up to 14 pixels off on a radiograph of 2544 x 3056 pixels.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from domain.boxes import BoxFit, BoxGrid, box_to_grid
from domain.gold import GoldItem
from domain.questions import Question, option_letter
from domain.vocabulary import AnswerFormat
from release.formats.format_writer import (
    FormatLimitation,
    FormatWriter,
    JsonContainerWriter,
    frontal_radiograph,
)

GRID = BoxGrid(width=224, height=224, fit=BoxFit.LETTERBOX)
#: The names of the question types in GEMeX's files; the test files have the same names.
TYPES = {
    AnswerFormat.OPEN: "open_ended_questions",
    AnswerFormat.CLOSED: "closed_ended_questions",
    AnswerFormat.SINGLE: "single_choice_questions",
    AnswerFormat.MULTIPLE: "multi_choice_questions",
}
#: The text that GEMeX appends to the system prompt, by type (section 4.1 of the paper). Models tuned on GEMeX
#: expect exactly this text.
_PROMPT = (
    "Input {type} question, and the assistant will output its answer{supplement} with a detailed reason and "
    "corresponding visual location."
)
PROMPTS = {
    AnswerFormat.OPEN: _PROMPT.format(type="an open-ended", supplement=""),
    AnswerFormat.CLOSED: _PROMPT.format(type="a closed-ended", supplement=" (yes or no)"),
    AnswerFormat.SINGLE: _PROMPT.format(type="a single-choice", supplement=" (an option)"),
    AnswerFormat.MULTIPLE: _PROMPT.format(type="a multi-choice", supplement=" (some options)"),
}
_MARKUP = ("<answer>", "<reason>", "<location>", "<choices>:", "<image>")
_NEXT_CHOICE = re.compile(r""",\s*['"]?[A-Z]\s*[:.)]\s*""")


class GemexWriter(FormatWriter):
    """Writes questions of all answer formats, each with the image of its boxes or the frontal image."""

    name = "gemex"

    def __init__(self, folder: Path, *, files: Mapping[str, str], with_report: bool) -> None:
        """``files`` has the paths of copied images by SHA-256.

        Other images keep the path of the question file.
        """
        conversations = ("gemex/conversations.json", "gemex/conversations_paper.json")
        super().__init__(folder, *(f"gemex/{name}.jsonl" for name in TYPES.values()), *conversations)
        self._conversation_arrays = [
            JsonContainerWriter(self._files[name], brackets="[]") for name in conversations
        ]
        self._paths, self._with_report = files, with_report
        self._row_id = 0

    def add(self, gold: GoldItem) -> None:
        question = gold.question
        image, locations, limitation = _locate_boxes(gold)
        if question.also_right:
            limitation = FormatLimitation.SEVERAL_CORRECT
        elif limitation is None and is_ambiguous(question):
            limitation = FormatLimitation.NOT_WRITABLE
        if limitation is not None:
            self.limitations[limitation] += 1
            return
        path = self._paths.get(image.sha256 or "", image.file)
        answer = format_key(question)
        report = gold.judged.exam.report if self._with_report else None
        name = TYPES[question.format]
        record = {
            "question": question.stem,
            **({"choices": format_choices(question)} if question.options else {}),
            "type": _get_content_type(question),
            "answer": answer,
            "reason": question.explanation,
            "visual_regions": [box.label for box in question.boxes],
            "visual_locations": locations,
            "image_path": path,
            "ori_report": report or "",
            "q_id": question.id,
            "row_id": self._row_id,
        }
        self._files[f"gemex/{name}.jsonl"].write_json_line(record)
        if question.boxes:
            self.limitations[FormatLimitation.LABELS] += 1
        turns = assistant_turns(question, answer, [round_location(location) for location in locations])
        for array, space, target in zip(self._conversation_arrays, ("", " "), turns, strict=True):
            array.add(self._encode_conversation(question, path, space=space, target=target))
        self._row_id += 1

    def finish(self) -> None:
        for array in self._conversation_arrays:
            array.close()

    def _encode_conversation(self, question: Question, path: str, *, space: str, target: str) -> bytes:
        """``space`` stands before the question: GEMeX's files have none, the paper has one."""
        choices = f" <choices>: [{', '.join(format_choices(question))}]" if question.options else ""
        return msgspec.json.encode(
            {
                "conversations": [
                    {"from": "human", "value": f"<image>\n{space}{question.stem}{choices}"},
                    {"from": "gpt", "value": target},
                ],
                "row_id": self._row_id,
                "q_type": TYPES[question.format],
                "type_prompt": PROMPTS[question.format],
                "image": path,
            }
        )


def _locate_boxes(gold: GoldItem) -> tuple[Any, list[list[float]], FormatLimitation | None]:
    """Return the radiograph, the boxes on the grid, and the reason if the question cannot be written."""
    exam = gold.judged.exam
    radiograph_ids = {box.radiograph for box in gold.question.boxes}
    if len(radiograph_ids) > 1:
        return None, [], FormatLimitation.TWO_RADIOGRAPHS
    image = exam.find_radiograph(radiograph_ids.pop()) if radiograph_ids else frontal_radiograph(exam)
    if not gold.question.boxes:
        return image, [], None
    if all(labelled_box.grid == GRID for labelled_box in gold.question.boxes):
        return image, [list(labelled_box.box.as_tuple()) for labelled_box in gold.question.boxes], None
    if image.rows is None or image.columns is None:
        return image, [], FormatLimitation.NO_SIZE
    locations = [
        list(box_to_grid(labelled_box.box, grid=GRID, rows=image.rows, columns=image.columns).as_tuple())
        for labelled_box in gold.question.boxes
    ]
    return image, locations, None


def format_key(question: Question) -> str | list[str]:
    if isinstance(question.answer, str):
        return (
            f"{question.answer.capitalize()}." if question.format is AnswerFormat.CLOSED else question.answer
        )
    letters = [option_letter(index) for index in question.answer]
    return letters if question.format is AnswerFormat.MULTIPLE else letters[0]


def _get_content_type(question: Question) -> str:
    """Return the content type, or the answer format if there is none or it would be read as a format."""
    content_type = question.content_type or ""
    names_a_format = any(word in content_type.casefold() for word in ("closed", "single", "multi", "open"))
    return TYPES[question.format] if names_a_format or not content_type else content_type


def format_choices(question: Question) -> list[str]:
    return [f"{option_letter(index)}: {text}" for index, text in enumerate(question.options)]


def round_location(location: list[float]) -> list[int]:
    """Round a location to whole pixels of the grid. A side that would have length 0 gets length 1."""
    rounded = [round(value) for value in location]
    for low, high in ((0, 2), (1, 3)):
        if rounded[low] == rounded[high]:
            rounded[low] = min(math.floor(location[low]), GRID.width - 1)
            rounded[high] = rounded[low] + 1
    return rounded


def assistant_turns(
    question: Question, answer: str | list[str], locations: list[list[int]]
) -> tuple[str, str]:
    """Return the assistant's turn as written in GEMeX's files, and as written in the paper."""
    file_variant = f"<answer> {answer} <reason> {question.explanation}"
    answer_text = f"[{', '.join(answer)}]" if isinstance(answer, list) else answer
    paper_variant = f"<answer>{answer_text} <reason>{question.explanation}"
    if not locations:
        return file_variant, paper_variant
    return f"{file_variant} <location> {locations}", f"{paper_variant} <location>{locations}"


def is_ambiguous(question: Question) -> bool:
    """Whether a text contains markup of the format or would change when it is imported again."""
    texts = [question.stem, question.explanation, *question.options]
    if isinstance(question.answer, str):
        texts.append(question.answer)
    if any(tag in text for tag in _MARKUP for text in texts) or any(text.strip() != text for text in texts):
        return True
    return any(
        text.strip("'\" ") != text or text.endswith("]") or _NEXT_CHOICE.search(text)
        for text in question.options
    )
