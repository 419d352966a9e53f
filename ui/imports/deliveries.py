"""What a coordinator hands in: uploads, kept in the workspace, or paths on the machine of the app.

Where the workspace de-identifies at the door, an uploaded zip of images stays in memory: nothing of it is
written before it is de-identified.
"""

from __future__ import annotations

import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from domain.errors import InvalidValue, NotFound
from domain.file_errors import naming
from domain.people import Person
from intake.service import ZippedImages, unpack_images
from ui.context import current_workspace

#: Folders, separated as in PATH, below which paths on the machine may lie.
FOLDERS_SETTING = "OVERREAD_IMPORT_FROM"


class Upload(Protocol):
    """A file from the browser, as Streamlit holds it."""

    name: str

    def getbuffer(self) -> memoryview: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A question file and its images, ready to be read; ``id`` names it, ``name`` is the file's own name."""

    id: str
    path: Path
    name: str
    images: Path | ZippedImages | None
    uploaded: bool


def allowed_folders() -> list[Path]:
    """Where paths on the machine may lie: as the setting says, else the home folder of who runs the app."""
    named = [each for each in os.environ.get(FOLDERS_SETTING, "").split(os.pathsep) if each]
    return [Path(each).expanduser().resolve() for each in named] or [Path.home().resolve()]


def on_this_machine(file: str, images: str) -> Delivery:
    """A file and a folder that are there already; an empty folder is "without images".

    Raises:
        NotFound: there is none, or it lies elsewhere than in the allowed folders; which, is not told.
    """
    path = _allowed(file, folder=False)
    return Delivery(
        id=secrets.token_urlsafe(9),
        path=path,
        name=path.name,
        images=_allowed(images, folder=True) if images.strip() else None,
        uploaded=False,
    )


def uploaded(file: Upload, archive: Upload | None, *, by: Person, in_memory: bool) -> Delivery:
    """Write what was uploaded into the workspace, the zip unpacked, or, if asked, kept in memory.

    Raises:
        InvalidValue: the zip can't be taken.
    """
    folder = current_workspace().uploads / secrets.token_urlsafe(9)
    folder.mkdir(parents=True)
    try:
        path = folder / "questions"
        with naming(path):
            path.write_bytes(file.getbuffer())
        images: Path | ZippedImages | None = None
        if archive is not None and in_memory:
            images = ZippedImages(bytes(archive.getbuffer()))
        elif archive is not None:
            packed = folder / "images.zip"
            with naming(packed):
                packed.write_bytes(archive.getbuffer())
            unpack_images(by=by, archive=packed, folder=folder / "images")
            packed.unlink()
            images = _without_wrapping(folder / "images")
    except (InvalidValue, OSError):  # half an upload is no use, and takes the room that was missing
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Delivery(id=folder.name, path=path, name=Path(file.name).name, images=images, uploaded=True)


def discard(delivery: Delivery) -> None:
    """Remove what was uploaded; files that were on the machine before stay."""
    if delivery.uploaded:
        shutil.rmtree(delivery.path.parent, ignore_errors=True)


def _without_wrapping(folder: Path) -> Path:
    """The folder, or the only folder in it: many zips wrap all images in one. Names in it stay reachable,
    since a path that begins with the folder's own name is found below it too.
    """
    entries = [each for each in folder.iterdir() if each.name != "__MACOSX"]
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


def _allowed(text: str, *, folder: bool) -> Path:
    path = Path(text.strip()).expanduser().resolve()
    inside = any(path.is_relative_to(each) for each in allowed_folders())
    if not text.strip() or not inside or not (path.is_dir() if folder else path.is_file()):
        what = "folder" if folder else "file"
        below = ", ".join(str(each) for each in allowed_folders())
        raise NotFound(f"There is no {what} {text.strip()!r} that may be read. Give one below {below}.")
    return path
