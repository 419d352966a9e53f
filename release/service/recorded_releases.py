"""Services that list and verify existing releases and find their files."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from sqlmodel import Session

from domain.errors import NotFound, Refused
from domain.people import Action, Person, require
from release.compare import Comparison, compare_releases
from release.folder import MANIFEST, hash_file
from release.manifest import Entry, parse_entries
from release.names import validate_name
from release.private import KEYS, keys_folder_of
from release.verify import VerifyReport, read_manifest, verify_release
from storage.release import releases
from storage.release.releases import ReleaseRecord
from storage.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseFile:
    """One file of a release, with its entry in the manifest and the file name for downloads."""

    path: Path
    download_name: str
    entry: Entry


def default_release_folder(workspace: Workspace, *, dataset: str, name: str) -> Path:
    """Return the folder of a release that is made in the browser.

    Raises:
        InvalidValue: the name is not valid for a release.
    """
    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", dataset)
    if slug != dataset:  # the hash distinguishes datasets that differ only in replaced characters
        slug += "-" + hashlib.sha256(dataset.encode()).hexdigest()[:8]
    return workspace.releases / slug / validate_name(name)


def list_releases(db: Session, *, by: Person) -> list[ReleaseRecord]:
    """Return all releases, the latest first."""
    require(by, Action.MAKE_RELEASE)
    return releases.list_releases(db)


def verify_recorded_release(db: Session, *, by: Person, release_id: int) -> VerifyReport:
    """Verify the files of a release, and compare its manifest with the recorded one.

    Returns:
        The result of the verification. Differences are listed in it and raise no exception.

    Raises:
        NotFound: the release does not exist.
    """
    require(by, Action.MAKE_RELEASE)
    recorded = releases.load_release(db, release_id=release_id)
    report = verify_release(recorded.folder)
    if not report.ok or report.manifest_sha256 == recorded.manifest_sha256:
        return report
    fault = f"{MANIFEST}: differs from the manifest recorded at creation"
    return VerifyReport(
        folder=report.folder,
        faults=(fault,),
        files=report.files,
        questions=report.questions,
        corrections=report.corrections,
        manifest_sha256=report.manifest_sha256,
    )


def compare_recorded_releases(db: Session, *, by: Person, old_id: int, new_id: int) -> Comparison:
    """Compare two releases of a dataset, with the private keys if the folders of both are there.

    Raises:
        NotFound: a release does not exist.
        InvalidValue: a folder is not a release.
        Refused: the releases have different datasets.
    """
    require(by, Action.MAKE_RELEASE)
    old, new = (releases.load_release(db, release_id=release_id).folder for release_id in (old_id, new_id))
    with_keys = all((keys_folder_of(folder) / KEYS).is_file() for folder in (old, new))
    return compare_releases(old, new, with_keys=with_keys)


def list_release_files(db: Session, *, by: Person, release_id: int) -> list[ReleaseFile]:
    """Return the files of a release, the manifest first.

    Raises:
        NotFound: the release or its manifest file does not exist.
        Refused: the manifest was changed.
    """
    require(by, Action.MAKE_RELEASE)
    recorded = releases.load_release(db, release_id=release_id)
    if not (recorded.folder / MANIFEST).is_file():
        raise NotFound(
            f"The release {recorded.name!r} is no longer in {recorded.folder}. Create it there again."
        )
    sha256, length = hash_file(recorded.folder / MANIFEST)
    if sha256 != recorded.manifest_sha256:
        raise Refused(
            f"The manifest of the release {recorded.name!r} was changed after its creation. Restore it from "
            "a backup."
        )
    entries = [
        Entry(path=MANIFEST, bytes=length, sha256=sha256),
        *parse_entries(read_manifest(recorded.folder)),
    ]
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{recorded.dataset}-{recorded.name}")
    return [
        ReleaseFile(
            path=recorded.folder / entry.path, download_name=f"{stem}-{Path(entry.path).name}", entry=entry
        )
        for entry in entries
    ]


def find_release_file(db: Session, *, by: Person, release_id: int, name: str) -> ReleaseFile:
    """Return one file of a release, by its path in the manifest.

    Raises:
        NotFound: the release or the file does not exist.
        Refused: the manifest was changed.
    """
    for file in list_release_files(db, by=by, release_id=release_id):
        if file.entry.path == name:
            return file
    raise NotFound(f"This release has no file {name!r}.")
