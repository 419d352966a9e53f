"""Images of a release: copies of the files, pictures for Parquet, hashes of pixels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from domain.errors import NotFound, Refused
from domain.exams import Radiograph
from imaging.errors import UnreadableImage
from imaging.guarded_reader import GuardedReader
from release.folder import copy_image
from release.formats.format_writer import OriginalLoader
from release.manifest import Entry
from storage.images.files import get_image_store
from storage.workspace import Workspace

if TYPE_CHECKING:
    from release.formats.parquet import DisplayImageLoader

_DICOM_PREFIX = slice(128, 132)  # the position of the prefix DICM in a DICOM file (PS3.10 7.1)


def copy_images(workspace: Workspace, images: dict[str, str], folder: Path) -> list[Entry]:
    """Copy image files to a release.

    Args:
        workspace: where the images are.
        images: path within the folder, by SHA-256.
        folder: of the release.

    Returns:
        The entries of the manifest.

    Raises:
        NotFound: an image is not in the workspace any more, or was changed.
    """
    (folder / "images").mkdir()
    entries, store = [], get_image_store(workspace)
    for sha256, path in sorted(images.items(), key=lambda item: item[1]):
        try:
            with store.local_file(sha256) as original:
                length = copy_image(original, folder / path, sha256=sha256)
        except (NotFound, Refused, FileNotFoundError, ValueError) as error:
            raise NotFound(
                f"The image {sha256} in the workspace is not as imported ({error}). Import it again."
            ) from error
        entries.append(Entry(path=path, bytes=length, sha256=sha256))
    return entries


def original_loader(workspace: Workspace) -> OriginalLoader:
    """A function that returns the bytes of a radiograph's file, None if the workspace does not have it."""
    store = get_image_store(workspace)

    def load_original(radiograph: Radiograph) -> bytes | None:
        if radiograph.sha256 is None or not store.contains(radiograph.sha256):
            return None
        return store.read(radiograph.sha256)

    return load_original


def display_image_loader(workspace: Workspace, reader: GuardedReader) -> DisplayImageLoader:
    """A function that returns a radiograph as PNG or JPEG.

    A PNG or JPEG is returned as it is. DICOM is rendered with 8 bits and the window that the screen shows
    first, in the size of the stored matrix. None if the workspace does not have the image or can't read it.
    """
    store, load_original = get_image_store(workspace), original_loader(workspace)

    def load_display_image(radiograph: Radiograph) -> bytes | None:
        content = load_original(radiograph)
        if content is None or content[_DICOM_PREFIX] != b"DICM":
            return content
        try:
            with store.local_file(radiograph.sha256 or "") as path:
                return reader.render_png(path, name=radiograph.file).full
        except UnreadableImage:  # it was readable on import; now the row has only its path
            return None

    return load_display_image


def hash_pixels(
    workspace: Workspace,
    sha256s: Iterable[str],
    *,
    reader: GuardedReader,
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, str]:
    """Hash the decoded pixels of images, so that equal pixels in different files are found.

    Args:
        workspace: where the images are.
        sha256s: of the image files.
        reader: decodes them.
        progress: called with the number of images processed.

    Returns:
        SHA-256 of size and stored values, by the SHA-256 of the file; images that are missing or can't be
        decoded are left out.
    """
    store = get_image_store(workspace)
    hashes: dict[str, str] = {}
    for count, sha256 in enumerate(sha256s, start=1):
        try:
            with store.local_file(sha256) as path:
                pixels = reader.decode(path, name=sha256).pixels
        except (NotFound, UnreadableImage):
            continue
        digest = hashlib.sha256(f"{pixels.shape}\0".encode())
        digest.update(pixels.astype("<i4").tobytes())
        hashes[sha256] = digest.hexdigest()
        progress(count)
    return hashes
