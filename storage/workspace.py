"""The location of a workspace: its folder, database and images."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from domain.errors import InvalidValue

#: Name of the SQLite database in the workspace.
DATABASE_FILE = "overread.sqlite"
#: The umask of the app and of the commands: only the user who runs them can read the files that they create.
PRIVATE_UMASK = 0o077
_DEFAULT_CACHE_GIB = 2.0
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/(?!\.)[A-Za-z0-9!_.*'()-]+)*/?")
#: The files and folders of ``home`` that a backup includes besides database and images. The others are
#: temporary (uploads) or can be computed again (cache).
BACKED_UP = ("releases", "refusals", "mappings", "audit", "demo", "demo.json")
_DEFAULT_HOME = Path(__file__).resolve().parent.parent / "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The data of one installation. All of it is in ``home`` unless database or images are elsewhere.

    ``bucket`` is the location of images that are not in ``home``: "s3://bucket/prefix".
    """

    home: Path
    database_url: str
    bucket: str | None = None

    @property
    def images(self) -> Path:
        """Folder of the original image files, named by their SHA-256; unused if they are in a bucket."""
        return self.home / "images"

    @property
    def cache(self) -> Path:
        """Folder of files that can be computed again."""
        return self.home / "cache"

    @property
    def releases(self) -> Path:
        """Folder of releases that were created in the browser."""
        return self.home / "releases"

    @property
    def training(self) -> Path:
        """Folder of training data of releases, which can be written again."""
        return self.home / "training"

    @property
    def refusals(self) -> Path:
        """Folder of the lists of refused records, one file per import."""
        return self.home / "refusals"

    @property
    def mappings(self) -> Path:
        """Folder of the mapping files that were saved on the page Import."""
        return self.home / "mappings"

    @property
    def audit(self) -> Path:
        """Folder of the row digests of the audit trail's last checkpoint."""
        return self.home / "audit"

    @property
    def uploads(self) -> Path:
        """Folder of files that are being uploaded or imported."""
        return self.home / "uploads"


def current_workspace() -> Workspace:
    """Return the workspace that the environment variables configure.

    The variables are ``OVERREAD_HOME``, ``OVERREAD_DATABASE_URL`` and ``OVERREAD_IMAGES``.

    Raises:
        InvalidValue: ``OVERREAD_IMAGES`` is not the address of a bucket.
    """
    home = Path(os.environ.get("OVERREAD_HOME") or _DEFAULT_HOME).expanduser().resolve()
    url = os.environ.get("OVERREAD_DATABASE_URL") or f"sqlite:///{home / DATABASE_FILE}"
    bucket = os.environ.get("OVERREAD_IMAGES", "").strip() or None
    if bucket is not None and not _BUCKET.fullmatch(bucket):
        raise InvalidValue("OVERREAD_IMAGES", f"{bucket!r} is not of the form s3://bucket/prefix")
    return Workspace(home=home, database_url=driver_url(url), bucket=bucket)


def restrict_permissions(home: Path) -> None:
    """Remove the permissions of group and others from a workspace's folder and its SQLite database.

    The process that made them may have had a less strict umask. Only a folder that contains the database and
    belongs to this user is changed, so a shared folder such as /srv keeps its permissions.
    """
    database = home / DATABASE_FILE
    if not database.exists() or home.stat().st_uid != os.getuid() or home.stat().st_mode & stat.S_ISVTX:
        return
    for path in (home, database, *home.glob(f"{DATABASE_FILE}-*")):
        with suppress(FileNotFoundError, PermissionError):  # SQLite deletes its log files when it closes
            mode = stat.S_IMODE(path.stat().st_mode)
            if mode & 0o077:
                path.chmod(mode & 0o700)


def cache_limit() -> int:
    """Return the size limit of the folder ``cache`` in bytes: ``OVERREAD_CACHE_GIB``, by default 2 GiB.

    Raises:
        InvalidValue: the value is not a number above 0.
    """
    value = os.environ.get("OVERREAD_CACHE_GIB", "").strip()
    try:
        gib = float(value) if value else _DEFAULT_CACHE_GIB
    except ValueError:
        gib = 0.0
    if not 0 < gib < float("inf"):
        raise InvalidValue("OVERREAD_CACHE_GIB", f"{value!r} is not a number of GiB above 0")
    return int(gib * (1 << 30))


def driver_url(url: str) -> str:
    """Return the URL with the project's database driver: psycopg 3 for PostgreSQL."""
    for prefix in ("postgresql://", "postgres://"):
        if url.startswith(prefix):
            return "postgresql+psycopg://" + url.removeprefix(prefix)
    return url
