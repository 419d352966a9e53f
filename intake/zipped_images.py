"""Reads images from a zip file in memory, for files that must not be written to disk."""

from __future__ import annotations

import io
import unicodedata
import zipfile
from pathlib import PurePosixPath

from domain.errors import InvalidValue
from intake.archives import MAX_FILE_BYTES, check_members, read_member
from intake.image_folder import path_parts

_FIELD = "exam.radiographs.file"


class ZippedImages:
    """The images of a zip file, by the paths in a question file. Only requested files are unpacked."""

    def __init__(self, content: bytes) -> None:
        """Read the directory of the zip file.

        Raises:
            InvalidValue: the zip file can't be used.
        """
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
            members = [member for member in self._zip.infolist() if not member.is_dir()]
        except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError) as error:
            raise InvalidValue("images", f"the zip cannot be read: {error}") from error
        check_members(members)
        self._members = {
            unicodedata.normalize("NFC", str(PurePosixPath(member.filename))): member for member in members
        }
        # Many zip files have all images in one folder. Paths may be relative to that folder.
        top_folders = {
            PurePosixPath(name).parts[0] for name in self._members if not name.startswith("__MACOSX")
        }
        self._top_folder = top_folders.pop() if len(top_folders) == 1 else None

    def __len__(self) -> int:
        return len(self._members)

    def check(self, image_path: str) -> None:
        """Check that the zip file contains a file with the path.

        Raises:
            InvalidValue: the file does not exist, or the path leads outside the zip file.
        """
        self._find_member(image_path)

    def read(self, image_path: str, *, max_bytes: int = MAX_FILE_BYTES) -> bytes:
        """Read the file with the path.

        Raises:
            InvalidValue: the file does not exist, is damaged, or has more than ``max_bytes`` bytes.
        """
        member = self._find_member(image_path)
        if member.file_size > max_bytes:
            reason = f"{image_path!r} has {member.file_size:,} bytes; the maximum is {max_bytes:,}"
            raise InvalidValue(_FIELD, reason)
        try:
            return read_member(self._zip, member, max_bytes=max_bytes)
        except (
            zipfile.BadZipFile,
            NotImplementedError,
            EOFError,
            OSError,
            RuntimeError,
            ValueError,
        ) as error:
            raise InvalidValue(_FIELD, f"{image_path!r} cannot be unpacked: {error}") from error

    def _find_member(self, image_path: str) -> zipfile.ZipInfo:
        inner_parts = [part for part in path_parts(image_path) if part != ".."]
        names = ["/".join(inner_parts), "/".join(inner_parts[1:])]
        if self._top_folder:
            names += [f"{self._top_folder}/{name}" for name in list(names)]
        for name in names:
            member = self._members.get(unicodedata.normalize("NFC", name)) if name else None
            if member is not None:
                return member
        raise InvalidValue(_FIELD, f"{image_path!r} is not in the zip of images")
