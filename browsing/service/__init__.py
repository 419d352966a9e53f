"""What the screens and commands ask of browsing; the only door to storage in this room."""

from browsing.search import Search, Standing
from browsing.service.finding import Choices, Found, batches_of, browsable, choices, count_found, find
from browsing.service.indexing import IndexState, index_questions, search_index
from browsing.service.telling import History, history, question_number
from browsing.service.wording import told
from storage.found_questions import FoundQuestion
from storage.question_events import QuestionEvent

__all__ = [
    "Choices",
    "Found",
    "FoundQuestion",
    "History",
    "IndexState",
    "QuestionEvent",
    "Search",
    "Standing",
    "batches_of",
    "browsable",
    "choices",
    "count_found",
    "find",
    "history",
    "index_questions",
    "question_number",
    "search_index",
    "told",
]
