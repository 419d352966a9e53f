"""Services for reader studies: creating them, readers, reading, predictions, protocol and report.

A function is one transaction, which the caller commits. ``by`` or ``person`` is who acts;
:class:`domain.errors.NotAllowed` is raised unless their roles allow the action. ``now`` is the time that is
stored. ``study`` is the name of a study; NotFound is raised for an unknown one.
"""

from reader_study.answers import Said
from reader_study.service.drafts import keep_reading_draft, read_guideline, record_reading_time
from reader_study.service.outside import OutsideReadings, import_readings
from reader_study.service.predictions import ImportedPredictions, import_predictions, list_models
from reader_study.service.progress import ReaderProgress, faulty_questions, study_progress
from reader_study.service.protocols import LeftOut, change_protocol, exclude, exclusions_in, protocol_versions
from reader_study.service.readers import assign_readers, readers_in, remove_reader, set_profile
from reader_study.service.reading import give_reading
from reader_study.service.reporting import (
    ReportState,
    compute_report,
    kept_report,
    report_state,
    study_report,
)
from reader_study.service.sheets import is_training, open_case, reading_at, reading_image, studies_for
from reader_study.service.studies import (
    StudySummary,
    close_study,
    create_study,
    describe,
    list_studies,
    reopen_study,
    study_summary,
)

__all__ = [
    "ImportedPredictions",
    "LeftOut",
    "OutsideReadings",
    "ReaderProgress",
    "ReportState",
    "Said",
    "StudySummary",
    "assign_readers",
    "change_protocol",
    "close_study",
    "compute_report",
    "create_study",
    "describe",
    "exclude",
    "exclusions_in",
    "faulty_questions",
    "give_reading",
    "import_predictions",
    "import_readings",
    "is_training",
    "keep_reading_draft",
    "kept_report",
    "list_models",
    "list_studies",
    "open_case",
    "protocol_versions",
    "read_guideline",
    "readers_in",
    "reading_at",
    "reading_image",
    "record_reading_time",
    "remove_reader",
    "reopen_study",
    "report_state",
    "set_profile",
    "studies_for",
    "study_progress",
    "study_report",
    "study_summary",
]
