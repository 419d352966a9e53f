"""Services for browsing: search, a question's history, dataset statistics, rules for many questions."""

from browsing.applying import MOST_QUEUED, Step, said
from browsing.dataset_statistics import DatasetStatistics, FormatLine, Lengths
from browsing.history_text import told
from browsing.search import Search, Standing
from browsing.service.applying import (
    ApplyPreview,
    applied_rules,
    preview_apply,
    queue_like,
    reject_like,
    take_rule_back,
)
from browsing.service.finding import Choices, Found, batches_of, browsable, choices, count_found, find
from browsing.service.indexing import index_questions, search_index
from browsing.service.statistics import dataset_statistics, statistics_version
from browsing.service.telling import History, history, question_number
from domain.history import QuestionEvent
from storage.browsing.applying import AppliedRule
from storage.browsing.found_questions import FoundQuestion
from storage.browsing.search import IndexState

__all__ = [
    "MOST_QUEUED",
    "AppliedRule",
    "ApplyPreview",
    "Choices",
    "DatasetStatistics",
    "FormatLine",
    "Found",
    "FoundQuestion",
    "History",
    "IndexState",
    "Lengths",
    "QuestionEvent",
    "Search",
    "Standing",
    "Step",
    "applied_rules",
    "batches_of",
    "browsable",
    "choices",
    "count_found",
    "dataset_statistics",
    "find",
    "history",
    "index_questions",
    "preview_apply",
    "question_number",
    "queue_like",
    "reject_like",
    "said",
    "search_index",
    "statistics_version",
    "take_rule_back",
    "told",
]
