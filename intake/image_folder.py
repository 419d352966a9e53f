"""Resolves the image paths of a question file within the folder of images."""

from __future__ import annotations

import unicodedata
from pathlib import Path, PurePosixPath

from domain.errors import InvalidValue

_FIELD = "exam.radiographs.file"


class ImageFolder:
    """The folder of images, such as the value of ``--images``.

    A path is relative to this folder. A path with leading ".." (ReXVQA's "../deid_png/…" is relative to the
    metadata folder) is first resolved from the question file's folder, then without the dots in the folder of
    images. If there is still no file, a first part that equals the folder's own name is dropped. After links
    are followed, the file must be inside the folder of images.
    """

    def __init__(self, folder: Path, *, file_folder: Path | None) -> None:
        """Use ``folder`` as the folder of images; ``file_folder`` is the folder of the question file.

        Raises:
            InvalidValue: the folder of images does not exist.
        """
        if not folder.is_dir():
            raise InvalidValue("images", f"the folder does not exist: {folder}")
        self._folder = folder.resolve()
        self._file_folder = file_folder.resolve() if file_folder else None

    def check(self, image_path: str) -> None:
        """Check that a file with the path exists.

        Raises:
            InvalidValue: as in :meth:`find`.
        """
        self.find(image_path)

    def read(self, image_path: str, *, max_bytes: int) -> bytes:
        """Read the file with the path.

        Args:
            image_path: the path in the question file.
            max_bytes: the maximum size in bytes.

        Raises:
            InvalidValue: as in :meth:`find`, or the file is too large or can't be read.
        """
        path = self.find(image_path)
        try:
            size = path.stat().st_size
            if size > max_bytes:
                raise InvalidValue(_FIELD, f"{image_path!r} has {size:,} bytes; the maximum is {max_bytes:,}")
            return path.read_bytes()
        except OSError as error:
            raise InvalidValue(_FIELD, f"{image_path!r} cannot be read: {error.strerror}") from error

    def find(self, image_path: str) -> Path:
        """Find the file with the path. Links are followed.

        Raises:
            InvalidValue: the file does not exist, or it is outside the folder of images.
        """
        parts = path_parts(image_path)
        inner_parts = [part for part in parts if part != ".."]
        if ".." in parts[len(parts) - len(inner_parts) :]:
            raise InvalidValue(
                _FIELD, f"{image_path!r} contains “..”; only paths below the image folder are allowed"
            )
        parent_steps = len(parts) - len(inner_parts)
        candidates: list[Path] = []
        if parent_steps and self._file_folder:
            candidates.append(self._file_folder.joinpath(*parts))
        candidates.append(self._folder.joinpath(*inner_parts))
        if inner_parts[0] == self._folder.name:
            candidates.append(self._folder.joinpath(*inner_parts[1:]))
        exists_outside = False
        for candidate in candidates:
            for spelling in (candidate, Path(unicodedata.normalize("NFD", str(candidate)))):
                resolved = spelling.resolve()
                is_inside = resolved.is_relative_to(self._folder)
                if is_inside and resolved.is_file():
                    return resolved
                exists_outside = exists_outside or (not is_inside and resolved.exists())
        if exists_outside or parent_steps:
            raise InvalidValue(
                _FIELD,
                (f"{image_path!r} is outside the image folder; choose an image folder that contains it"),
            )
        raise InvalidValue(_FIELD, f"{image_path!r} is not in the image folder")


def path_parts(image_path: str) -> list[str]:
    """Split a path of a question file.

    Raises:
        InvalidValue: the path is empty, absolute, has backslashes, or does not name a file.
    """
    path = PurePosixPath(image_path)
    if not image_path.strip() or "\0" in image_path or len(image_path) > 1000 or not path.parts:
        raise InvalidValue(_FIELD, "is empty or not a path")
    if path.is_absolute() or "\\" in image_path or ":" in path.parts[0]:
        raise InvalidValue(
            _FIELD, f"{image_path!r} must be relative to the image folder, with forward slashes"
        )
    if all(part == ".." for part in path.parts) or any(len(part.encode()) > 255 for part in path.parts):
        raise InvalidValue(_FIELD, f"{image_path[:80]!r} does not name a file")
    return list(path.parts)
