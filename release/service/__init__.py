"""Making a release, looking at what one would hold, and finding its files again."""

from release.service.known import (
    ReleaseFile,
    list_releases,
    release_file,
    release_files,
    usual_folder,
    verify_known,
)
from release.service.making import (
    Names,
    ReleaseSummary,
    Written,
    create_release,
    preview_release,
    record_release,
    releasable,
    write_release,
)
from release.tally import Tally
from release.verify import VerifyReport, verify_release
from storage.releases import KnownRelease

__all__ = [
    "KnownRelease",
    "Names",
    "ReleaseFile",
    "ReleaseSummary",
    "Tally",
    "VerifyReport",
    "Written",
    "create_release",
    "list_releases",
    "preview_release",
    "record_release",
    "releasable",
    "release_file",
    "release_files",
    "usual_folder",
    "verify_known",
    "verify_release",
    "write_release",
]
