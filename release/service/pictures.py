"""What a release takes from the workspace's images: copies, pictures for Parquet, hashes of pixels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from domain.errors import NotFound, Refused
from domain.exams import Radiograph
from imaging.errors import UnreadableImage
from imaging.guarded import GuardedReader
from release.folder import copy_image
from release.forms.form import Original
from release.manifest import Entry
from storage.images.files import image_store
from storage.workspace import Workspace

if TYPE_CHECKING:
    from release.forms.parquet import Picture

_DICOM = slice(128, 132)  # where a DICOM file says DICM (PS3.10 7.1)


def copied_images(workspace: Workspace, images: dict[str, str], folder: Path) -> list[Entry]:
    """Copy the original files, by SHA-256 and path within the folder.

    Raises:
        NotFound: the workspace has one of them no more as it came in.
    """
    (folder / "images").mkdir()
    entries, store = [], image_store(workspace)
    for sha256, path in sorted(images.items(), key=lambda item: item[1]):
        try:
            with store.on_disk(sha256) as original:
                length = copy_image(original, folder / path, sha256=sha256)
        except (NotFound, Refused, FileNotFoundError, ValueError) as error:
            raise NotFound(
                f"The workspace has the image {sha256} no more as it came in ({error}). Import it again."
            ) from error
        entries.append(Entry(path=path, bytes=length, sha256=sha256))
    return entries


def originals(workspace: Workspace) -> Original:
    """Gives the original bytes of a radiograph."""
    store = image_store(workspace)

    def original(radiograph: Radiograph) -> bytes | None:
        if radiograph.sha256 is None or not store.holds(radiograph.sha256):
            return None
        return store.read(radiograph.sha256)

    return original


def pictures(workspace: Workspace, reader: GuardedReader) -> Picture:
    """Gives a radiograph as PNG or JPEG: the original file where it is one, else DICOM as the screen first
    shows it, 8 bits, every pixel of the stored matrix.
    """
    store, original = image_store(workspace), originals(workspace)

    def picture(radiograph: Radiograph) -> bytes | None:
        content = original(radiograph)
        if content is None or content[_DICOM] != b"DICM":
            return content
        try:
            with store.on_disk(radiograph.sha256 or "") as path:
                return reader.render(path, name=radiograph.file).full
        except UnreadableImage:  # it was readable when it came in; the row then has its path only
            return None

    return picture


def pixel_hashes(
    workspace: Workspace,
    sha256s: Iterable[str],
    *,
    reader: GuardedReader,
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, str]:
    """SHA-256 over size and decoded values of each image, by the SHA-256 of its file.

    Two files with the same pixels (another compression, another header) have the same one. An image that is
    not in the workspace, or can't be decoded any more, has none.
    """
    store = image_store(workspace)
    found: dict[str, str] = {}
    for count, sha256 in enumerate(sha256s, start=1):
        try:
            with store.on_disk(sha256) as path:
                pixels = reader.decode(path, name=sha256).pixels
        except (NotFound, UnreadableImage):
            continue
        digest = hashlib.sha256(f"{pixels.shape}\0".encode())
        digest.update(pixels.astype("<i4").tobytes())
        found[sha256] = digest.hexdigest()
        progress(count)
    return found
