"""Services for browsing: search, a question's history, dataset statistics, bulk actions."""

from typing import TYPE_CHECKING

from domain.lazy_imports import import_on_use

if TYPE_CHECKING:
    from browsing.bulk_actions import BulkAction, describe_search
    from browsing.dataset_statistics import DatasetStatistics, Lengths
    from browsing.history_text import describe_event
    from browsing.search import QuestionStatus, Search
    from browsing.service.bulk_actions import (
        BulkPreview,
        list_bulk_actions,
        preview_bulk_action,
        queue_matching,
        reject_matching,
        undo_bulk_action,
    )
    from browsing.service.history import History, load_history, load_question_row_id
    from browsing.service.search import (
        FilterChoices,
        SearchPage,
        count_matches,
        find_last_imported_dataset,
        list_batch_names,
        list_browsable_datasets,
        load_filter_choices,
        load_newest_name_mapping,
        search_questions,
    )
    from browsing.service.search_index import index_questions, load_search_index_state
    from browsing.service.statistics import (
        compute_dataset_statistics,
        count_report_findings,
        load_statistics_version,
    )
    from storage.browsing.bulk_actions import AppliedBulkAction
    from storage.browsing.search_results import SearchResult
else:
    __getattr__ = import_on_use(__name__)

__all__ = [
    "AppliedBulkAction",
    "BulkAction",
    "BulkPreview",
    "DatasetStatistics",
    "FilterChoices",
    "History",
    "Lengths",
    "QuestionStatus",
    "Search",
    "SearchPage",
    "SearchResult",
    "compute_dataset_statistics",
    "count_matches",
    "count_report_findings",
    "describe_event",
    "describe_search",
    "find_last_imported_dataset",
    "index_questions",
    "list_batch_names",
    "list_browsable_datasets",
    "list_bulk_actions",
    "load_filter_choices",
    "load_history",
    "load_newest_name_mapping",
    "load_question_row_id",
    "load_search_index_state",
    "load_statistics_version",
    "preview_bulk_action",
    "queue_matching",
    "reject_matching",
    "search_questions",
    "undo_bulk_action",
]
