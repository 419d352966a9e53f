"""The files that a coordinator imports: uploads, stored in the workspace, or paths on the server.

If the workspace de-identifies images on import, an uploaded zip of images stays in memory: no image is
written to disk before it is de-identified.
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

#: The setting with the folders from which files on the server may be imported, separated as in PATH.
FOLDERS_SETTING = "OVERREAD_IMPORT_FROM"


class Upload(Protocol):
    """A file from the browser, in Streamlit's form."""

    name: str

    def getbuffer(self) -> memoryview: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A question file and its images, ready to be read.

    ``id`` identifies the delivery, ``name`` is the question file's own name. ``images`` is the folder of the
    images. If the zip of images is kept in memory, ``in_memory`` is true instead, and :func:`images_of`
    returns them.
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


#: The zips in memory, by the delivery's id. Only the latest are kept, since each may have 200 MB.
_IN_MEMORY: OrderedDict[str, ZippedImages] = OrderedDict()
_MOST_IN_MEMORY = 3


def images_of(delivery: Delivery) -> Path | ZippedImages | None:
    """Return the images of a delivery; None if it has none.

    Raises:
        NotFound: they were in memory, and the server was restarted since, or newer zips replaced them.
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
    """Return the folders from which files on the server may be imported.

    These are the folders of the setting; without it, the home folder of the user that runs the app.
    """
    named = [each for each in os.environ.get(FOLDERS_SETTING, "").split(os.pathsep) if each]
    return [Path(each).expanduser().resolve() for each in named] or [Path.home().resolve()]


def on_this_machine(file: str, images: str) -> Delivery:
    """Return a delivery of a file and a folder on the server; an empty folder name means "without images".

    Raises:
        NotFound: the file or folder does not exist, or is outside the allowed folders. The message does not
        distinguish the two.
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
    """Write an upload into the workspace; unpack the zip, or keep it in memory if ``in_memory`` is true.

    Raises:
        InvalidValue: the zip is not acceptable.
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
    except (InvalidValue, OSError):  # an incomplete upload is useless, and may be what fills the disk
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
    """Remove an upload; files that were on the server before are kept."""
    _IN_MEMORY.pop(delivery.id, None)
    if delivery.uploaded:
        shutil.rmtree(delivery.path.parent, ignore_errors=True)


def _without_wrapping(folder: Path) -> Path:
    """Return the folder, or the only folder in it, because many zips wrap all images in one folder.

    Image names that begin with that folder's own name are found too.
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
