"""Images of a release: copied files, rendered images for Parquet, and hashes of the pixels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from domain.errors import NotFound, Refused
from domain.exams import Radiograph
from imaging.errors import UnreadableImage
from imaging.guarded_decoder import GuardedDecoder
from release.folder import copy_image
from release.formats.format_writer import OriginalLoader
from release.manifest import Entry
from storage.images.files import get_image_store
from storage.workspace import Workspace

if TYPE_CHECKING:
    from release.formats.parquet import DisplayImageLoader


def copy_images(workspace: Workspace, images: dict[str, str], folder: Path) -> list[Entry]:
    """Copy image files to a release.

    Args:
        workspace: the workspace with the images.
        images: the paths within the folder, by SHA-256.
        folder: the folder of the release.

    Returns:
        The copied files, as entries of the manifest.

    Raises:
        NotFound: an image is no longer in the workspace, or was changed.
    """
    (folder / "images").mkdir()
    entries, store = [], get_image_store(workspace)
    for sha256, path in sorted(images.items(), key=lambda item: item[1]):
        try:
            with store.local_file(sha256) as original:
                length = copy_image(original, folder / path, sha256=sha256)
        except (NotFound, Refused, FileNotFoundError, ValueError) as error:
            raise NotFound(
                f"The image {sha256} is missing or was changed in the workspace ({error}). Import it again."
            ) from error
        entries.append(Entry(path=path, bytes=length, sha256=sha256))
    return entries


def original_loader(workspace: Workspace) -> OriginalLoader:
    """Return a function that loads a radiograph's file; it returns None if the workspace does not have it."""
    store = get_image_store(workspace)

    def load_original(radiograph: Radiograph) -> bytes | None:
        if radiograph.sha256 is None or not store.contains(radiograph.sha256):
            return None
        return store.read(radiograph.sha256)

    return load_original


def display_image_loader(workspace: Workspace, decoder: GuardedDecoder) -> DisplayImageLoader:
    """Return a function that loads a radiograph as PNG or JPEG.

    PNG and JPEG files are returned unchanged. DICOM files are rendered with 8 bits, with the default window
    of the viewer and in the size of the stored matrix. The function returns None if the image is missing or
    cannot be decoded.
    """
    from imaging.dicom_file import is_dicom  # noqa: PLC0415 - pydicom is slow to import

    store, load_original = get_image_store(workspace), original_loader(workspace)

    def load_display_image(radiograph: Radiograph) -> bytes | None:
        content = load_original(radiograph)
        if content is None or not is_dicom(content):
            return content
        try:
            with store.local_file(radiograph.sha256 or "") as path:
                return decoder.render_png(path, name=radiograph.file).full
        except UnreadableImage:  # damaged since the import; the row has only the path
            return None

    return load_display_image


def hash_pixels(
    workspace: Workspace,
    sha256s: Iterable[str],
    *,
    decoder: GuardedDecoder,
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, str]:
    """Hash the decoded pixels of images, to detect identical pixels in different files.

    Args:
        workspace: the workspace with the images.
        sha256s: the SHA-256 of each image file.
        decoder: the process that decodes the images.
        progress: a function that is called with the number of processed images.

    Returns:
        The SHA-256 of the size and the stored values of each image, by the SHA-256 of its file. Images that
        are missing or cannot be decoded are omitted.
    """
    store = get_image_store(workspace)
    hashes: dict[str, str] = {}
    for count, sha256 in enumerate(sha256s, start=1):
        try:
            with store.local_file(sha256) as path:
                pixels = decoder.decode(path, name=sha256).pixels
            digest = hashlib.sha256(f"{pixels.shape}\0".encode())
            digest.update(pixels.astype("<i4").tobytes())
            hashes[sha256] = digest.hexdigest()
        except (NotFound, UnreadableImage):
            pass
        progress(count)
    return hashes
