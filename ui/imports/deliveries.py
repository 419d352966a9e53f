"""What a coordinator hands in: uploads, kept in the workspace, or paths on the machine of the app.

Where the workspace de-identifies at the door, an uploaded zip of images stays in memory: nothing of it is
written before it is de-identified.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections import OrderedDict
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
    """A question file and its images, ready to be read; ``id`` names it, ``name`` is the file's own name.

    ``images`` is their folder. Where the zip of images is kept in memory, ``in_memory`` is true instead, and
    :func:`images_of` gives them.
    """

    id: str
    path: Path
    name: str
    images: Path | None
    uploaded: bool
    in_memory: bool = False

    @property
    def has_images(self) -> bool:
        return self.in_memory or self.images is not None


#: The zips that are kept in memory, by the delivery's id: the latest ones, since each may have 200 MB.
_IN_MEMORY: OrderedDict[str, ZippedImages] = OrderedDict()
_MOST_IN_MEMORY = 3


def images_of(delivery: Delivery) -> Path | ZippedImages | None:
    """The images of a delivery; None where it came without.

    Raises:
        NotFound: they were in memory, and the app was restarted since, or others came in.
    """
    if not delivery.in_memory:
        return delivery.images
    zipped = _IN_MEMORY.get(delivery.id)
    if zipped is None:
        raise NotFound(
            "The zip of images was kept in memory only and is gone: the server was restarted, or more zips "
            "came in. Hand in both files again."
        )
    return zipped


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
        images: Path | None = None
        zipped = ZippedImages(bytes(archive.getbuffer())) if archive is not None and in_memory else None
        if archive is not None and not in_memory:
            packed = folder / "images.zip"
            with naming(packed):
                packed.write_bytes(archive.getbuffer())
            unpack_images(by=by, archive=packed, folder=folder / "images")
            packed.unlink()
            images = _without_wrapping(folder / "images")
    except (InvalidValue, OSError):  # half an upload is no use, and takes the room that was missing
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if zipped is not None:
        _IN_MEMORY[folder.name] = zipped
        while len(_IN_MEMORY) > _MOST_IN_MEMORY:
            _IN_MEMORY.popitem(last=False)
    return Delivery(
        id=folder.name,
        path=path,
        name=Path(file.name).name,
        images=images,
        uploaded=True,
        in_memory=zipped is not None,
    )


def discard(delivery: Delivery) -> None:
    """Remove what was uploaded; files that were on the machine before stay."""
    _IN_MEMORY.pop(delivery.id, None)
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
