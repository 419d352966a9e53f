"""Services for releases: previewing, writing, recording, verifying them and finding their files.

A function is one transaction, which the caller commits. ``by`` is the person who acts;
:class:`domain.errors.NotAllowed` is raised unless their roles allow the action. ``now`` is the time that is
stored.
"""

from release.compare import Comparison, compare_releases
from release.forms.form import FormName
from release.service.choosing import Names, releasable
from release.service.known import (
    ReleaseFile,
    list_releases,
    release_file,
    release_files,
    usual_folder,
    verify_known,
)
from release.service.making import Written, write_release
from release.service.preview import preview_release, preview_version
from release.service.recording import ReleaseSummary, record_release
from release.splits import SplitPlan
from release.tally import Tally
from release.verify import VerifyReport, verify_release
from storage.release.releases import KnownRelease

__all__ = [
    "Comparison",
    "FormName",
    "KnownRelease",
    "Names",
    "ReleaseFile",
    "ReleaseSummary",
    "SplitPlan",
    "Tally",
    "VerifyReport",
    "Written",
    "compare_releases",
    "list_releases",
    "preview_release",
    "preview_version",
    "record_release",
    "releasable",
    "release_file",
    "release_files",
    "usual_folder",
    "verify_known",
    "verify_release",
    "write_release",
]
