"""Services that write training data of a release into the workspace, and find it for downloads."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec
from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import NotFound
from domain.people import Action, Person, require
from records.decoding import decode_json
from release.splits import SPLIT_TABLE, Split
from release.training.box_formats import BoxFormat
from release.training.conversations import TrainingLibrary
from release.training.export import DESCRIPTION_FILE, export_training_data
from storage.release import releases
from storage.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData:
    """Training data in the workspace.

    Attributes:
        name: the name of its folder, such as "trl-gemex", unique for the release.
        folder: the folder.
        download_name: the name of the folder in the zip file.
        library: the library that reads it.
        boxes: the form of the boxes.
        split: the split of the release.
        questions: the number of questions.
        images: the number of images.
        left_out: the number of questions that were left out, by reason.
    """

    name: str
    folder: Path
    download_name: str
    library: str
    boxes: str
    split: str
    questions: int
    images: int
    left_out: dict[str, int]


class _Description(msgspec.Struct):
    release_manifest_sha256: str
    library: str
    boxes: str
    split: str
    questions: int
    images: int
    left_out: dict[str, int]


def choose_training_split(folder: Path) -> Split:
    """Return the split of a release for training: train if there is one, otherwise public."""
    return Split.TRAIN if (folder / SPLIT_TABLE).is_file() else Split.PUBLIC


def write_training_data(
    db: Session,
    *,
    by: Person,
    workspace: Workspace,
    release_id: int,
    library: TrainingLibrary,
    form: BoxFormat,
    progress: Callable[[int], None] = lambda _: None,
) -> TrainingData:
    """Write training data of a release; data that exist already are returned unchanged.

    Args:
        db: a session; one that only reads is sufficient.
        by: the acting person.
        workspace: the workspace.
        release_id: the id of the release in the database.
        library: the library that reads the files.
        form: the form of the boxes; ignored for ms-swift, which gets pixels and converts them.
        progress: a function that is called with the number of questions read.

    Raises:
        NotFound: the release does not exist.
        Refused: the release was changed, or nothing can be exported.
    """
    require(by, Action.MAKE_RELEASE)
    release = releases.load_release(db, release_id=release_id)
    form = BoxFormat.PIXELS if library is TrainingLibrary.MS_SWIFT else form
    name = f"{library.value}-{form.value}"
    folder = _get_training_folder(workspace, release_id) / name
    if not (folder / DESCRIPTION_FILE).is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        export_training_data(
            release.folder,
            folder,
            library=library,
            form=form,
            split=choose_training_split(release.folder),
            progress=progress,
        )
    return find_training_data(db, by=by, workspace=workspace, release_id=release_id, name=name)


def record_training_data(
    db: Session, *, by: Person, release_id: int, training: TrainingData, now: datetime
) -> None:
    """Record in the audit trail that training data were written."""
    require(by, Action.MAKE_RELEASE)
    record_action(
        db,
        by=by,
        action="write training data",
        subject=f"release {release_id}",
        new={
            "library": training.library, "boxes": training.boxes, "split": training.split,
            "questions": training.questions,
        },
        now=now,
    )  # fmt: skip


def list_training_data(
    db: Session, *, by: Person, workspace: Workspace, release_id: int
) -> list[TrainingData]:
    """Return the training data of a release, sorted by name.

    Raises:
        NotFound: the release does not exist.
    """
    require(by, Action.MAKE_RELEASE)
    release = releases.load_release(db, release_id=release_id)
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{release.dataset}-{release.name}")
    exports = []
    for path in sorted(_get_training_folder(workspace, release_id).glob(f"*/{DESCRIPTION_FILE}")):
        description = decode_json(path.read_bytes(), _Description)
        if description.release_manifest_sha256 == release.manifest_sha256:
            exports.append(
                TrainingData(
                    name=path.parent.name, folder=path.parent, download_name=f"{stem}-{path.parent.name}",
                    library=description.library, boxes=description.boxes, split=description.split,
                    questions=description.questions, images=description.images,
                    left_out=description.left_out,
                )
            )  # fmt: skip
    return exports


def find_training_data(
    db: Session, *, by: Person, workspace: Workspace, release_id: int, name: str
) -> TrainingData:
    """Return training data of a release by their name.

    Raises:
        NotFound: the release has no such training data.
    """
    for training in list_training_data(db, by=by, workspace=workspace, release_id=release_id):
        if training.name == name:
            return training
    raise NotFound("These training data do not exist. Write them on the page Releases.")


def _get_training_folder(workspace: Workspace, release_id: int) -> Path:
    return workspace.training / str(release_id)
