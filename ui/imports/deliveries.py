"""Deliveries: the files that a coordinator imports. They are uploads or files on the server.

Uploads are stored in the workspace. If the workspace de-identifies images on import, an uploaded zip of
images is kept in memory, so that no image is written to disk before it is de-identified.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from domain.errors import InvalidValue, NotFound
from domain.file_errors import add_filename_to_errors
from domain.people import Person
from intake.service import ZippedImages, unpack_images
from ui.context import current_workspace

#: The setting with the folders from which files on the server may be imported, separated as in PATH.
FOLDERS_SETTING = "OVERREAD_IMPORT_FROM"


class Upload(Protocol):
    """An uploaded file, as Streamlit provides it."""

    name: str

    def getbuffer(self) -> memoryview: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A question file and its images, ready to be imported.

    Attributes:
        id: identifies the delivery.
        path: the question file on this server, or a folder of files that a mapping reads.
        name: the original name of the question file.
        images: the folder of the images; None if there are none, or if they are in memory.
        uploaded: whether the files were uploaded. Uploaded files are deleted after the import.
        in_memory: whether the zip of images is kept in memory; :func:`find_images` returns it.
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


#: The zips in memory, by the id of the delivery. Only the latest are kept, because each may have 200 MB.
_IN_MEMORY: OrderedDict[str, ZippedImages] = OrderedDict()
_MAX_IN_MEMORY = 3


def find_images(delivery: Delivery) -> Path | ZippedImages | None:
    """Return the images of a delivery; None if it has none.

    Raises:
        NotFound: the images were in memory and are lost, after a restart or because newer zips replaced them.
    """
    if not delivery.in_memory:
        return delivery.images
    zipped = _IN_MEMORY.get(delivery.id)
    if zipped is None:
        raise NotFound(
            "The image zip is no longer in memory: the server was restarted, or other uploads replaced "
            "it. Upload both files again."
        )
    return zipped


def list_allowed_folders() -> list[Path]:
    """Return the folders from which files on the server may be imported.

    The setting lists them. Without the setting, it is only the home folder of the user that runs the app.
    """
    folders = [folder for folder in os.environ.get(FOLDERS_SETTING, "").split(os.pathsep) if folder]
    return [Path(folder).expanduser().resolve() for folder in folders] or [Path.home().resolve()]


def locate_server_files(file: str, images: str) -> Delivery:
    """Return a delivery of a file and an image folder on the server.

    Args:
        file: the path of the question file, or of a folder that a mapping reads.
        images: the path of the image folder; empty for no images.

    Raises:
        NotFound: the file or folder does not exist, or is outside the allowed folders. The message does not
        say which.
    """
    path = resolve_server_path(file)
    return Delivery(
        id=secrets.token_urlsafe(9),
        path=path,
        name=path.name,
        images=resolve_server_path(images, kind="folder") if images.strip() else None,
        uploaded=False,
    )


def save_upload(file: Upload, archive: Upload | None, *, by: Person, in_memory: bool) -> Delivery:
    """Store an upload in the workspace and return it as a delivery.

    Args:
        file: the question file.
        archive: the zip of images; None for no images.
        by: the person who uploads.
        in_memory: whether the zip is kept in memory instead of being unpacked in the workspace.

    Raises:
        InvalidValue: the zip is not acceptable.
    """
    folder = current_workspace().uploads / secrets.token_urlsafe(9)
    folder.mkdir(parents=True)
    try:
        path = folder / "questions"
        with add_filename_to_errors(path):
            path.write_bytes(file.getbuffer())
        images: Path | None = None
        zipped = ZippedImages(bytes(archive.getbuffer())) if archive is not None and in_memory else None
        if archive is not None and not in_memory:
            zip_path = folder / "images.zip"
            with add_filename_to_errors(zip_path):
                zip_path.write_bytes(archive.getbuffer())
            unpack_images(by=by, archive=zip_path, folder=folder / "images")
            zip_path.unlink()
            images = _strip_wrapper_folder(folder / "images")
    except (InvalidValue, OSError):  # an incomplete upload cannot be used, and it may fill the disk
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if zipped is not None:
        _IN_MEMORY[folder.name] = zipped
        while len(_IN_MEMORY) > _MAX_IN_MEMORY:
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
    """Delete an uploaded delivery. Files that were already on the server are kept."""
    _IN_MEMORY.pop(delivery.id, None)
    if delivery.uploaded:
        shutil.rmtree(delivery.path.parent, ignore_errors=True)


def _strip_wrapper_folder(folder: Path) -> Path:
    """Return the only folder in ``folder``, or ``folder`` itself if it contains anything else.

    Many zips wrap all images in one folder. Image names that begin with the folder's name are still found.
    """
    entries = [entry for entry in folder.iterdir() if entry.name != "__MACOSX"]
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


def resolve_server_path(
    text: str, *, kind: Literal["file", "folder", "file or folder"] = "file or folder"
) -> Path:
    """Return the path of a file or a folder on the server.

    Raises:
        NotFound: it does not exist, is of another kind, or is outside the allowed folders. The message does
            not say which.
    """
    path = Path(text.strip()).expanduser().resolve()
    is_allowed = any(path.is_relative_to(allowed) for allowed in list_allowed_folders())
    exists = (
        is_allowed and {"file": path.is_file, "folder": path.is_dir, "file or folder": path.exists}[kind]()
    )
    if not text.strip() or not exists:
        allowed_list = ", ".join(str(allowed) for allowed in list_allowed_folders())
        raise NotFound(
            f"The {kind} {text.strip()!r} was not found in an allowed folder. Enter a path in {allowed_list}."
        )
    return path
