"""ReXrank's command contract: a program that reads a file of questions and writes one of answers.

It is called as ``PROGRAM --input_json_file FILE --save_json_file FILE --img_root_dir FOLDER``. The input is
one JSON object with the records by question id; the output has the same records with the field
``model_prediction``. A record here has neither key nor explanation, and nothing of the report or the patient.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from domain.errors import Refused
from domain.evaluations import Condition, EvaluatedExam, EvaluationCase, ImageSize
from domain.questions import option_letter
from domain.vocabulary import View
from evaluation.cases import EvaluatedQuestion
from evaluation.requests import list_shown_options
from release.formats.rexvqa import TASK_NAMES

#: The number of characters at the end of a failed program's output that are shown.
_SHOWN_CHARACTERS = 2000
_POLL_SECONDS = 0.2
_STOP_SECONDS = 10.0


def choose_exam(
    item: EvaluatedQuestion,
    case: EvaluationCase,
    *,
    condition: Condition,
    exams: Mapping[int, EvaluatedExam],
) -> EvaluatedExam | None:
    """Return the exam whose radiographs are shown; None in the condition "no image"."""
    if not condition.shows_images:
        return None
    return exams[case.other_exam] if case.other_exam is not None else item.exam


def build_record(
    item: EvaluatedQuestion, case: EvaluationCase, *, exam: EvaluatedExam | None, image_size: ImageSize
) -> dict[str, Any]:
    """Build the record of a case, with the field names of ReXVQA."""
    question = item.question
    options = list_shown_options(question.options, case) or question.format.fixed_answers
    return {
        "study_id": f"question {item.number}",
        "question": case.stem or question.stem,
        "options": [f"{option_letter(index)}. {text}" for index, text in enumerate(options)],
        "question_type": question.format.value,
        "task_name": TASK_NAMES[question.task] if question.task else question.content_type,
        "ImagePath": [
            name_image(radiograph.sha256 or "", image_size)
            for radiograph in (exam.radiographs if exam else ())
        ],
        "ImageViewPosition": [
            None if radiograph.view is View.UNKNOWN else radiograph.view.value
            for radiograph in (exam.radiographs if exam else ())
        ],
    }


def name_image(sha256: str, image_size: ImageSize) -> str:
    """Return the path of a radiograph within the folder of images."""
    return f"{image_size.value}/{sha256}.png"


def run_program(
    program: Sequence[str],
    *,
    questions: Path,
    answers: Path,
    images: Path,
    should_stop: Callable[[], bool],
) -> bool:
    """Run a program until it ends. Its output goes to a file next to ``answers``.

    Args:
        program: the program with its own arguments; no shell interprets them.
        questions: the file of questions.
        answers: the file that the program writes.
        images: the folder of images.
        should_stop: whether to end the program.

    Returns:
        Whether the program has ended by itself.

    Raises:
        Refused: the program cannot be started, fails, or writes no file.
    """
    answers.unlink(missing_ok=True)
    log = answers.with_suffix(".log")
    arguments = [
        *program,
        "--input_json_file", str(questions),
        "--save_json_file", str(answers),
        "--img_root_dir", str(images),
    ]  # fmt: skip
    with log.open("wb") as output:
        process = _start_process(arguments, output)
        while True:
            try:
                process.wait(_POLL_SECONDS)
                break
            except subprocess.TimeoutExpired:
                if should_stop():
                    _end_process(process)
                    return False
            except BaseException:
                _end_process(process)
                raise
    if process.returncode != 0:
        output_end = log.read_text(encoding="utf-8", errors="replace")[-_SHOWN_CHARACTERS:].strip()
        raise Refused(
            f"{program[0]} ended with code {process.returncode}. Its output ends with:\n{output_end}"
        )
    if not answers.is_file():
        raise Refused(f"{program[0]} ended without an error, but wrote no file to --save_json_file.")
    return True


def _start_process(arguments: Sequence[str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - the person who calls the command chose the program
            arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    except OSError as error:
        raise Refused(f"{arguments[0]} cannot be started: {error.strerror or error}.") from error


def _end_process(process: subprocess.Popen[bytes]) -> None:
    """End a program with all its processes."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
