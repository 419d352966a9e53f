"""Where a workspace lives: its folder, its database."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from domain.errors import InvalidValue

_DEFAULT_CACHE_GIB = 2.0
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/(?!\.)[A-Za-z0-9!_.*'()-]+)*/?")
#: What belongs to the workspace besides database and images, below ``home``: a backup holds it. The rest is
#: on its way in (uploads) or can be made again (cache).
KEPT = ("releases", "refusals", "demo", "demo.json")
_DEFAULT_HOME = Path(__file__).resolve().parent.parent / "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """One installation's data: ``home`` holds all of it, but for a database or images that are elsewhere.

    ``bucket`` is where the images are if not in ``home``: "s3://bucket/prefix".
    """

    home: Path
    database_url: str
    bucket: str | None = None

    @property
    def images(self) -> Path:
        """Folder of the original image files, each under its SHA-256, unless they are in a bucket."""
        return self.home / "images"

    @property
    def cache(self) -> Path:
        """Folder of what can be made again."""
        return self.home / "cache"

    @property
    def releases(self) -> Path:
        """Folder that releases made in the browser are written to."""
        return self.home / "releases"

    @property
    def refusals(self) -> Path:
        """Folder of the lists of refused records, one file an import."""
        return self.home / "refusals"

    @property
    def uploads(self) -> Path:
        """Folder of files that are on their way in."""
        return self.home / "uploads"


def current_workspace() -> Workspace:
    """The workspace that the environment names: ``OVERREAD_HOME``, ``OVERREAD_DATABASE_URL``,
    ``OVERREAD_IMAGES``.

    Raises:
        InvalidValue: ``OVERREAD_IMAGES`` is no bucket.
    """
    home = Path(os.environ.get("OVERREAD_HOME") or _DEFAULT_HOME).expanduser().resolve()
    url = os.environ.get("OVERREAD_DATABASE_URL") or f"sqlite:///{home / 'overread.sqlite'}"
    bucket = os.environ.get("OVERREAD_IMAGES", "").strip() or None
    if bucket is not None and not _BUCKET.fullmatch(bucket):
        raise InvalidValue("OVERREAD_IMAGES", f"{bucket!r} is not of the form s3://bucket/prefix")
    return Workspace(home=home, database_url=driver_url(url), bucket=bucket)


def cache_limit() -> int:
    """Bytes that the folder ``cache`` may hold: ``OVERREAD_CACHE_GIB``, 2 GiB where it is not set.

    Raises:
        InvalidValue: not a number above 0.
    """
    said = os.environ.get("OVERREAD_CACHE_GIB", "").strip()
    try:
        gib = float(said) if said else _DEFAULT_CACHE_GIB
    except ValueError:
        gib = 0.0
    if not 0 < gib < float("inf"):
        raise InvalidValue("OVERREAD_CACHE_GIB", f"{said!r} is not a number of GiB above 0")
    return int(gib * (1 << 30))


def driver_url(url: str) -> str:
    """The URL with the driver that the project ships: psycopg 3 for PostgreSQL."""
    for prefix in ("postgresql://", "postgres://"):
        if url.startswith(prefix):
            return "postgresql+psycopg://" + url.removeprefix(prefix)
    return url
