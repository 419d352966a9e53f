"""Unpacks zip files of images safely into a new folder."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path, PurePosixPath

from domain.errors import InvalidValue

#: Limits of the unpacked size: of all files together, and of one file.
MAX_TOTAL_BYTES = 20 << 30
MAX_FILE_BYTES = 256 << 20
MAX_FILES = 200_000
#: Images hardly compress. A file that unpacks to more than this many times its size is refused.
MAX_RATIO = 200
_CHUNK = 1 << 20


def unpack_archive(archive: Path, folder: Path) -> int:
    """Unpack a zip file into a new folder.

    Sizes are counted while unpacking, because the directory of the zip may be wrong.

    Args:
        archive: the zip file.
        folder: the folder to create; it must not exist.

    Returns:
        The number of files.

    Raises:
        InvalidValue: the file is not a zip file, is damaged or encrypted, has links or names that lead
            outside the folder, or is too large.
    """
    try:
        with zipfile.ZipFile(archive) as zip_file:
            members = [member for member in zip_file.infolist() if not member.is_dir()]
            check_members(members)
            folder.mkdir(parents=True)
            remaining_bytes = MAX_TOTAL_BYTES
            for member in members:
                remaining_bytes -= _write_member(
                    zip_file, member, folder.joinpath(*PurePosixPath(member.filename).parts), remaining_bytes
                )
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError) as error:
        raise InvalidValue("images", f"the zip cannot be unpacked: {error}") from error
    return len(members)


def check_members(members: list[zipfile.ZipInfo]) -> None:
    """Check the number of members, and that no member is a link, is encrypted or lies outside the folder.

    Raises:
        InvalidValue: there are too many members, or a member is not allowed.
    """
    if len(members) > MAX_FILES:
        raise InvalidValue(
            "images", f"the zip file contains {len(members):,} files; the maximum is {MAX_FILES:,}"
        )
    for member in members:
        _check_member(member)


def read_member(zip_file: zipfile.ZipFile, member: zipfile.ZipInfo, *, max_bytes: int) -> bytes:
    """Read one file of the zip.

    Raises:
        InvalidValue: the file is too large when unpacked, or has more than ``max_bytes`` bytes.
    """
    max_bytes = min(MAX_FILE_BYTES, max_bytes, max(_CHUNK, member.compress_size * MAX_RATIO))
    chunks, size = [], 0
    with zip_file.open(member) as source:
        while chunk := source.read(_CHUNK):
            size += len(chunk)
            if size > max_bytes:
                raise InvalidValue("images", f"{member.filename!r} is too large when unpacked")
            chunks.append(chunk)
    return b"".join(chunks)


def _check_member(member: zipfile.ZipInfo) -> None:
    name = member.filename
    parts = PurePosixPath(name).parts
    file_type = stat.S_IFMT(member.external_attr >> 16)
    if (
        not parts
        or name.startswith("/")
        or ".." in parts
        or "\\" in name
        or ":" in parts[0]
        or not name.isprintable()
    ):
        raise InvalidValue(
            "images", f"the zip file contains {name!r}, which would be written outside its folder"
        )
    if file_type not in (0, stat.S_IFREG):
        raise InvalidValue(
            "images", f"the zip file contains {name!r}, which is a link or a device, not a file"
        )
    if member.flag_bits & 1:
        raise InvalidValue("images", f"{name!r} is encrypted; create the zip again without a password")


def _write_member(
    zip_file: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, remaining_bytes: int
) -> int:
    """Write one file and return its size."""
    target.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    limit = min(MAX_FILE_BYTES, remaining_bytes, max(_CHUNK, member.compress_size * MAX_RATIO))
    with zip_file.open(member) as source, target.open("xb") as out:
        while chunk := source.read(_CHUNK):
            size += len(chunk)
            if size > limit:
                raise InvalidValue("images", f"{member.filename!r} is too large when unpacked")
            out.write(chunk)
    return size
