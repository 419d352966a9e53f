"""Services for in-context examples: writing them from an exam, and adding them to a new prompt version."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import NotFound, Refused
from domain.exams import Exam
from domain.people import Action, Person, require
from language_models.prompts import Example, add_examples, list_example_variables, parse_prompt
from language_models.service.data_use import check_images
from language_models.service.prompts import load_prompt, save_prompt
from storage.intake.datasets import load_dataset
from storage.intake.exams import load_exam
from storage.language_models import prompt_examples as prompt_example_storage
from storage.language_models.exams import find_exam, list_exams_with_report
from storage.language_models.prompt_examples import PromptExample
from storage.language_models.prompts import PromptVersion

__all__ = [
    "ExampleSource",
    "PromptExample",
    "draw_example_source",
    "export_examples",
    "list_example_fields",
    "list_examples",
    "load_example_source",
    "remove_example",
    "save_example",
    "to_prompt_example",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleSource:
    """An exam from which an example is written, with its report. ``number`` is its id in the database."""

    number: int
    dataset: str
    exam: Exam


def load_example_source(db: Session, *, by: Person, dataset: str, exam: str) -> ExampleSource:
    """Load an exam by its id in the file.

    Raises:
        NotFound: the dataset does not exist, or has no such exam.
    """
    require(by, Action.RUN_MODELS)
    number = find_exam(db, dataset_id=load_dataset(db, name=dataset).id, key=exam)
    if number is None:
        raise NotFound(f"Dataset {dataset} has no exam {exam!r}.")
    return ExampleSource(number=number, dataset=dataset, exam=load_exam(db, exam_id=number, with_report=True))


def draw_example_source(db: Session, *, by: Person, dataset: str, seed: int) -> ExampleSource:
    """Draw an exam with a report at random.

    Raises:
        NotFound: the dataset does not exist, or no exam of it has a report.
    """
    require(by, Action.RUN_MODELS)
    numbers = list_exams_with_report(db, dataset_id=load_dataset(db, name=dataset).id)
    if not numbers:
        raise NotFound(f"No exam of dataset {dataset} has a report.")
    number = numbers[int(np.random.default_rng(seed).integers(len(numbers)))]
    return ExampleSource(number=number, dataset=dataset, exam=load_exam(db, exam_id=number, with_report=True))


def list_examples(db: Session, *, by: Person, prompt: str) -> list[PromptExample]:
    """List the examples that were written for a prompt, in the order of writing."""
    require(by, Action.RUN_MODELS)
    return prompt_example_storage.list_examples(db, name=prompt)


def save_example(
    db: Session,
    *,
    by: Person,
    prompt: str,
    dataset: str,
    exam: str,
    variables: Mapping[str, str],
    reply: str,
    radiographs: Collection[str] = (),
    now: datetime,
) -> int:
    """Store an example that was written from an exam. It is checked against the newest version of the prompt.

    Args:
        db: a session that can write.
        by: the acting person.
        prompt: the name of the prompt.
        dataset: the dataset of the exam.
        exam: the exam's id in its file.
        variables: the text of each variable.
        reply: the reply that is wanted.
        radiographs: the ids of the radiographs that belong to the example.
        now: the current time.

    Returns:
        The number of the example.

    Raises:
        NotFound: there is no such prompt, dataset, exam or radiograph.
        InvalidValue: a variable is missing or unknown, or the reply does not match the schema.
        Refused: a radiograph was removed because of patient text, or the prompt has the same example.
    """
    require(by, Action.RUN_MODELS)
    version = load_prompt(db, by=by, label=prompt)
    source = load_example_source(db, by=by, dataset=dataset, exam=exam)
    images = _find_images(source, radiographs)
    check_images(db, datasets=(dataset,), images=images)
    example = Example(variables=dict(variables), reply=reply, images=images, dataset=dataset)
    if _has_example(db, version, example):
        raise Refused(f"Prompt {version.name} has this example already.")
    add_examples(version.content, [example])  # checks the example
    number = prompt_example_storage.add_example(
        db,
        name=version.name,
        exam_id=source.number,
        variables=variables,
        images=images,
        reply=reply,
        person_id=by.id or None,
        now=now,
    )
    record_action(
        db,
        by=by,
        action="write prompt example",
        subject=f"prompt example {number}",
        new={"prompt": version.name, "exam": source.number},
        now=now,
    )
    return number


def remove_example(db: Session, *, by: Person, example: int, now: datetime) -> None:
    """Remove an example from the list. Versions that contain it do not change.

    Raises:
        NotFound: there is no such example.
    """
    require(by, Action.RUN_MODELS)
    if not prompt_example_storage.remove_example(db, example_id=example, now=now):
        raise NotFound(f"There is no example {example}. It may have been removed in another tab.")
    record_action(db, by=by, action="remove prompt example", subject=f"prompt example {example}", now=now)


def export_examples(
    db: Session, *, by: Person, prompt: str, examples: Collection[int], note: str, now: datetime
) -> PromptVersion:
    """Store the next version of a prompt: the given version with these examples at its end.

    Args:
        db: a session that can write.
        by: the acting person.
        prompt: the version to extend, such as ``mcq@2``, or the name for the newest one.
        examples: the numbers of the examples.
        note: what changed.
        now: the current time.

    Raises:
        NotFound: there is no such prompt or example.
        InvalidValue: the note is empty, or an example does not fit the version.
        Refused: the version has all these examples.
    """
    require(by, Action.RUN_MODELS)
    base = load_prompt(db, by=by, label=prompt)
    written_examples = {
        example.id: example for example in prompt_example_storage.list_examples(db, name=base.name)
    }
    missing = sorted(set(examples) - set(written_examples))
    if missing:
        raise NotFound(f"Prompt {base.name} has no example {missing[0]}. It may have been removed.")
    content = add_examples(
        base.content, [to_prompt_example(written_examples[number]) for number in sorted(examples)]
    )
    if content == base.content:
        raise Refused(f"{base.label} has all these examples already. Write or choose others.")
    version, _ = save_prompt(db, by=by, content=content, note=note, now=now)
    return version


def list_example_fields(version: PromptVersion) -> tuple[str, ...]:
    """Return the names of the variables that an example of this version has."""
    return list_example_variables(parse_prompt(version.content))


def to_prompt_example(example: PromptExample) -> Example:
    """Return the example as it stands in a prompt file."""
    return Example(
        variables=example.variables, reply=example.reply, images=example.images, dataset=example.dataset
    )


def _has_example(db: Session, version: PromptVersion, example: Example) -> bool:
    written_examples = (
        to_prompt_example(written) for written in prompt_example_storage.list_examples(db, name=version.name)
    )
    return example in (*parse_prompt(version.content).examples, *written_examples)


def _find_images(source: ExampleSource, radiographs: Collection[str]) -> tuple[str, ...]:
    sha256_by_id = {radiograph.id: radiograph.sha256 for radiograph in source.exam.radiographs}
    images = []
    for key in radiographs:
        sha256 = sha256_by_id.get(key)
        if sha256 is None:
            raise NotFound(f"Exam {source.exam.id} has no image for radiograph {key!r}.")
        images.append(sha256)
    return tuple(images)
