"""Services for reader studies: creation, readers, readings, predictions, protocol and report.

Each function runs in the transaction of the caller, who commits it. ``by`` or ``person`` is the acting
person; :class:`domain.errors.NotAllowed` is raised if their roles do not permit the action. ``now`` is the
time that is stored. ``study`` is the name of a study; NotFound is raised if it does not exist.
"""

from typing import TYPE_CHECKING

from domain.lazy_imports import import_on_use

if TYPE_CHECKING:
    from reader_study.answers import SubmittedAnswer
    from reader_study.service.case_sampling import count_available_cases
    from reader_study.service.compared_cases import (
        ComparedAnswer,
        ComparedCase,
        check_may_compare,
        load_compared_case,
    )
    from reader_study.service.drafts import record_guideline_read, record_reading_time, save_reading_draft
    from reader_study.service.extraction_marks import (
        EXTRACTION_SAMPLE_SIZE,
        ExtractionCheck,
        SampledReply,
        load_extraction_check,
        mark_extraction,
    )
    from reader_study.service.marking import (
        assign_marker,
        import_marks,
        list_marked_answers,
        list_marking_tasks,
        load_marking_image,
        load_marking_progress,
        load_marking_sheet,
        mark_answer,
    )
    from reader_study.service.outside_readings import OutsideReadings, import_readings
    from reader_study.service.pilots import estimate_study_pilot
    from reader_study.service.predictions import ImportedPredictions, import_predictions, list_models
    from reader_study.service.progress import (
        ReaderProgress,
        StudyReaders,
        count_finished_readers,
        list_faulty_questions,
        load_study_progress,
    )
    from reader_study.service.protocols import (
        ExclusionSummary,
        change_protocol,
        exclude_readings,
        list_exclusions,
        list_protocol_versions,
    )
    from reader_study.service.readers import assign_readers, list_readers, remove_reader, set_profile
    from reader_study.service.reading import submit_reading
    from reader_study.service.reports import (
        compute_report,
        count_report_answers,
        load_or_compute_report,
        load_report_data,
        load_report_digest,
        load_stored_report,
    )
    from reader_study.service.sheets import (
        is_training_case,
        list_studies_for_reader,
        load_reading_at,
        load_reading_image,
        open_case,
    )
    from reader_study.service.studies import (
        StudySummary,
        close_study,
        create_study,
        describe_design,
        list_studies,
        load_study_summary,
        reopen_study,
    )
    from reader_study.service.study_models import StudyModel, choose_models, list_study_models
else:
    __getattr__ = import_on_use(__name__)

__all__ = [
    "EXTRACTION_SAMPLE_SIZE",
    "ComparedAnswer",
    "ComparedCase",
    "ExclusionSummary",
    "ExtractionCheck",
    "ImportedPredictions",
    "OutsideReadings",
    "ReaderProgress",
    "SampledReply",
    "StudyModel",
    "StudyReaders",
    "StudySummary",
    "SubmittedAnswer",
    "assign_marker",
    "assign_readers",
    "change_protocol",
    "check_may_compare",
    "choose_models",
    "close_study",
    "compute_report",
    "count_available_cases",
    "count_finished_readers",
    "count_report_answers",
    "create_study",
    "describe_design",
    "estimate_study_pilot",
    "exclude_readings",
    "import_marks",
    "import_predictions",
    "import_readings",
    "is_training_case",
    "list_exclusions",
    "list_faulty_questions",
    "list_marked_answers",
    "list_marking_tasks",
    "list_models",
    "list_protocol_versions",
    "list_readers",
    "list_studies",
    "list_studies_for_reader",
    "list_study_models",
    "load_compared_case",
    "load_extraction_check",
    "load_marking_image",
    "load_marking_progress",
    "load_marking_sheet",
    "load_or_compute_report",
    "load_reading_at",
    "load_reading_image",
    "load_report_data",
    "load_report_digest",
    "load_stored_report",
    "load_study_progress",
    "load_study_summary",
    "mark_answer",
    "mark_extraction",
    "open_case",
    "record_guideline_read",
    "record_reading_time",
    "remove_reader",
    "reopen_study",
    "save_reading_draft",
    "set_profile",
    "submit_reading",
]
