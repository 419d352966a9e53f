"""Services that preview, write, record, list and verify releases, and find their files.

Each function is one transaction, which the caller commits. ``by`` is the acting person;
:class:`domain.errors.NotAllowed` is raised if their roles do not permit the action. ``now`` is the time that
is stored.
"""

from typing import TYPE_CHECKING

from domain.lazy_imports import import_on_use

if TYPE_CHECKING:
    from release.compare import Comparison, compare_releases
    from release.formats.format_writer import FormatName
    from release.leak_report import LeakReport
    from release.names import ReviewerNaming
    from release.service.corrected_examples import CorrectedExamples, add_corrected_examples
    from release.service.errata import (
        MAX_MATCHES,
        ErratumEntry,
        ReportableQuestion,
        find_release,
        list_errata,
        list_reportable_releases,
        open_reportable_question,
        report_problem,
        search_reportable_questions,
    )
    from release.service.inputs import list_releasable_batches
    from release.service.leak_check import find_dataset_leaks
    from release.service.preview import compute_preview_cache_key, preview_release
    from release.service.recorded_releases import (
        ReleaseFile,
        compare_recorded_releases,
        default_release_folder,
        find_release_file,
        list_release_files,
        list_releases,
        verify_recorded_release,
    )
    from release.service.recorder import ReleaseSummary, record_release
    from release.service.training_exports import (
        TrainingData,
        choose_training_split,
        find_training_data,
        list_training_data,
        record_training_data,
        write_training_data,
    )
    from release.service.writer import WrittenRelease, write_release
    from release.splits import SplitPlan
    from release.tally import Tally
    from release.verify import VerifyReport, verify_release
    from storage.release.releases import ReleaseRecord
else:
    __getattr__ = import_on_use(__name__)

__all__ = [
    "MAX_MATCHES",
    "Comparison",
    "CorrectedExamples",
    "ErratumEntry",
    "FormatName",
    "LeakReport",
    "ReleaseFile",
    "ReleaseRecord",
    "ReleaseSummary",
    "ReportableQuestion",
    "ReviewerNaming",
    "SplitPlan",
    "Tally",
    "TrainingData",
    "VerifyReport",
    "WrittenRelease",
    "add_corrected_examples",
    "choose_training_split",
    "compare_recorded_releases",
    "compare_releases",
    "compute_preview_cache_key",
    "default_release_folder",
    "find_dataset_leaks",
    "find_release",
    "find_release_file",
    "find_training_data",
    "list_errata",
    "list_releasable_batches",
    "list_release_files",
    "list_releases",
    "list_reportable_releases",
    "list_training_data",
    "open_reportable_question",
    "preview_release",
    "record_release",
    "record_training_data",
    "report_problem",
    "search_reportable_questions",
    "verify_recorded_release",
    "verify_release",
    "write_release",
    "write_training_data",
]
