"""Services for reader studies: creating them, readers, reading, predictions, protocol and report.

A function is one transaction, which the caller commits. ``by`` or ``person`` is who acts;
:class:`domain.errors.NotAllowed` is raised unless their roles allow the action. ``now`` is the time that is
stored. ``study`` is the name of a study; NotFound is raised for an unknown one.
"""

from reader_study.answers import SubmittedAnswer
from reader_study.service.drafts import save_reading_draft, record_guideline_read, record_reading_time
from reader_study.service.outside import OutsideReadings, import_readings
from reader_study.service.predictions import ImportedPredictions, import_predictions, list_models
from reader_study.service.progress import ReaderProgress, list_faulty_questions, load_study_progress
from reader_study.service.protocols import Excluded, change_protocol, exclude_readings, list_exclusions, list_protocol_versions
from reader_study.service.readers import assign_readers, list_readers, remove_reader, set_profile
from reader_study.service.reading import submit_reading
from reader_study.service.reporting import (
    ReportState,
    compute_report,
    load_stored_report,
    load_report_state,
    load_or_compute_report,
)
from reader_study.service.sheets import is_training_case, open_case, load_reading_at, load_reading_image, list_studies_for_reader
from reader_study.service.studies import (
    StudySummary,
    close_study,
    create_study,
    describe_design,
    list_studies,
    reopen_study,
    load_study_summary,
)

__all__ = [
    "ImportedPredictions",
    "Excluded",
    "OutsideReadings",
    "ReaderProgress",
    "ReportState",
    "SubmittedAnswer",
    "StudySummary",
    "assign_readers",
    "change_protocol",
    "close_study",
    "compute_report",
    "create_study",
    "describe_design",
    "exclude_readings",
    "list_exclusions",
    "list_faulty_questions",
    "submit_reading",
    "import_predictions",
    "import_readings",
    "is_training_case",
    "save_reading_draft",
    "load_stored_report",
    "list_models",
    "list_studies",
    "open_case",
    "list_protocol_versions",
    "record_guideline_read",
    "list_readers",
    "load_reading_at",
    "load_reading_image",
    "record_reading_time",
    "remove_reader",
    "reopen_study",
    "load_report_state",
    "set_profile",
    "list_studies_for_reader",
    "load_study_progress",
    "load_or_compute_report",
    "load_study_summary",
]
