"""Unpacks zip files of images safely into a new folder."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path, PurePosixPath

from domain.errors import InvalidValue

#: Limits of the unpacked size: of all files together, and of one file.
LARGEST_TOTAL = 20 << 30
LARGEST_FILE = 256 << 20
MOST_FILES = 200_000
#: Images hardly compress; a file that unpacks to more than this many times its size is refused.
HIGHEST_RATIO = 200
_CHUNK = 1 << 20


def unpack(archive: Path, folder: Path) -> int:
    """Unpack a zip file into a new folder.

    Sizes are counted while unpacking, because the directory of the zip may be wrong.

    Args:
        archive: the zip file.
        folder: to create; it must not exist.

    Returns:
        The number of files.

    Raises:
        InvalidValue: the file is no zip, damaged or encrypted, has links or names that leave the folder, or
            is too large.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [each for each in opened.infolist() if not each.is_dir()]
            check_members(members)
            folder.mkdir(parents=True)
            left = LARGEST_TOTAL
            for member in members:
                left -= _write(opened, member, folder.joinpath(*PurePosixPath(member.filename).parts), left)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError) as error:
        raise InvalidValue("images", f"the zip can't be unpacked: {error}") from error
    return len(members)


def check_members(members: list[zipfile.ZipInfo]) -> None:
    """Check that there are not too many members, and none is a link, encrypted, or leaves the folder.

    Raises:
        InvalidValue: names the first member that is not allowed.
    """
    if len(members) > MOST_FILES:
        raise InvalidValue(
            "images", f"the zip holds {len(members):,} files, at most {MOST_FILES:,} are taken"
        )
    for member in members:
        _refuse(member)


def read_member(opened: zipfile.ZipFile, member: zipfile.ZipInfo, *, most: int) -> bytes:
    """Read one file of the zip.

    Raises:
        InvalidValue: it unpacks to more than the directory states, or to more than ``most`` bytes.
    """
    most = min(LARGEST_FILE, most, max(_CHUNK, member.compress_size * HIGHEST_RATIO))
    parts, size = [], 0
    with opened.open(member) as source:
        while part := source.read(_CHUNK):
            size += len(part)
            if size > most:
                raise InvalidValue("images", f"{member.filename!r} unpacks to far too much; it was given up")
            parts.append(part)
    return b"".join(parts)


def _refuse(member: zipfile.ZipInfo) -> None:
    name = member.filename
    parts = PurePosixPath(name).parts
    kind = stat.S_IFMT(member.external_attr >> 16)
    if (
        not parts
        or name.startswith("/")
        or ".." in parts
        or "\\" in name
        or ":" in parts[0]
        or not name.isprintable()
    ):
        raise InvalidValue("images", f"the zip holds {name!r}, which would leave its folder")
    if kind not in (0, stat.S_IFREG):
        raise InvalidValue("images", f"the zip holds {name!r}, which is a link or a device, no file")
    if member.flag_bits & 1:
        raise InvalidValue("images", f"{name!r} is encrypted; unpack the zip and pack it without a password")


def _write(opened: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, left: int) -> int:
    """Write one file and return its size."""
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    most = min(LARGEST_FILE, left, max(_CHUNK, member.compress_size * HIGHEST_RATIO))
    with opened.open(member) as source, target.open("xb") as out:
        while part := source.read(_CHUNK):
            written += len(part)
            if written > most:
                raise InvalidValue("images", f"{member.filename!r} unpacks to far too much; it was given up")
            out.write(part)
    return written
