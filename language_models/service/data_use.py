"""Checks which data a run may send: its dataset, and the datasets of the examples in its prompt."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmodel import Session

from domain.errors import Refused
from domain.language_models import DEFAULT_DATA_USE, Endpoint, require_data_use
from language_models.prompts import list_example_datasets
from storage.intake.datasets import find_dataset_id
from storage.language_models.endpoints import load_data_use
from storage.language_models.images import find_unavailable_images
from storage.language_models.prompts import PromptVersion


def list_sent_datasets(dataset: str | None, prompt: PromptVersion | None) -> tuple[str, ...]:
    """Return the datasets whose data a request contains: ``dataset``, and those of the prompt's examples."""
    own_datasets = () if dataset is None else (dataset,)
    return tuple(dict.fromkeys((*own_datasets, *(list_example_datasets(prompt.content) if prompt else ()))))


def check_data_use(db: Session, *, datasets: Sequence[str], endpoint: Endpoint) -> None:
    """Check that every dataset may be sent to the endpoint.

    A dataset of an example that is not in the workspace may be sent to local endpoints only.

    Raises:
        Refused: a dataset may not be sent.
    """
    for name in datasets:
        dataset_id = find_dataset_id(db, name=name)
        permitted = DEFAULT_DATA_USE if dataset_id is None else load_data_use(db, dataset_id=dataset_id)
        require_data_use(dataset=name, permitted=permitted, endpoint=endpoint)


def check_images(db: Session, *, datasets: Sequence[str], images: Sequence[str]) -> None:
    """Check that radiographs belong to one of the datasets and may be shown.

    Raises:
        Refused: a radiograph belongs to none of the datasets, or may not be shown.
    """
    if not images:
        return
    if not datasets:
        raise Refused("Requests with radiographs need the dataset that the radiographs belong to.")
    missing = set(images)
    for name in datasets:
        dataset_id = find_dataset_id(db, name=name)
        if dataset_id is not None:
            missing = find_unavailable_images(db, dataset_id=dataset_id, sha256=missing)
    if missing:
        raise Refused(
            f"Radiograph {min(missing)[:12]}… is not part of dataset {' or '.join(datasets)}, or was removed "
            "because of patient text in it."
        )
