"""Services for browsing: search, a question's history, dataset statistics, rules for many questions."""

from browsing.applying import MAX_QUEUED, BulkAction, describe_search
from browsing.dataset_statistics import DatasetStatistics, FormatLine, Lengths
from browsing.history_text import describe_event
from browsing.search import Search, QuestionStatus
from browsing.service.applying import (
    BulkPreview,
    list_applied_rules,
    preview_bulk_action,
    queue_matching,
    reject_matching,
    revert_rule,
)
from browsing.service.finding import FilterChoices, SearchPage, list_batch_names, list_browsable_datasets, load_filter_choices, count_matches, search_questions
from browsing.service.indexing import index_questions, load_search_index_state
from browsing.service.statistics import compute_dataset_statistics, load_statistics_version
from browsing.service.telling import History, load_history, load_question_number
from domain.history import QuestionEvent
from storage.browsing.applying import AppliedRule
from storage.browsing.found_questions import SearchResult
from storage.browsing.search import IndexState

__all__ = [
    "MAX_QUEUED",
    "AppliedRule",
    "BulkPreview",
    "FilterChoices",
    "DatasetStatistics",
    "FormatLine",
    "SearchPage",
    "SearchResult",
    "History",
    "IndexState",
    "Lengths",
    "QuestionEvent",
    "Search",
    "QuestionStatus",
    "BulkAction",
    "list_applied_rules",
    "list_batch_names",
    "list_browsable_datasets",
    "load_filter_choices",
    "count_matches",
    "compute_dataset_statistics",
    "search_questions",
    "load_history",
    "index_questions",
    "preview_bulk_action",
    "load_question_number",
    "queue_matching",
    "reject_matching",
    "describe_search",
    "load_search_index_state",
    "load_statistics_version",
    "revert_rule",
    "describe_event",
]
