"""The review room's services: one transaction's worth of work each, a module a noun."""

from review.pace import RULE
from review.progress import Line, Progress, Rate, percent
from review.service.assigning import AssignSummary, assign, preview_assign, reassign, withdraw
from review.service.batches import (
    batch_named,
    change_settings,
    close_batch,
    reopen_batch,
    settings_are_frozen,
)
from review.service.claiming import NextClaim, claim_next, hand_back, is_shared
from review.service.judging import (
    commit_own_answer,
    give_verdict,
    keep_draft,
    open_report,
    record_look,
    skip_question,
)
from review.service.reporting import (
    BatchLoad,
    BatchOverview,
    PersonLoad,
    batch_load,
    overview,
    progress,
    settled,
)
from review.service.sharing import IDLE_MINUTES, ShareSummary, share_batch
from review.service.sheets import (
    batches_for,
    drawn_on,
    last_judged,
    next_open,
    open_sheet,
    radiograph_file,
    saved_verdict,
    skipped_questions,
)

__all__ = [
    "IDLE_MINUTES",
    "RULE",
    "AssignSummary",
    "BatchLoad",
    "BatchOverview",
    "Line",
    "NextClaim",
    "PersonLoad",
    "Progress",
    "Rate",
    "ShareSummary",
    "assign",
    "batch_load",
    "batch_named",
    "batches_for",
    "change_settings",
    "claim_next",
    "close_batch",
    "commit_own_answer",
    "drawn_on",
    "give_verdict",
    "hand_back",
    "is_shared",
    "keep_draft",
    "last_judged",
    "next_open",
    "open_report",
    "open_sheet",
    "overview",
    "percent",
    "preview_assign",
    "progress",
    "radiograph_file",
    "reassign",
    "record_look",
    "reopen_batch",
    "saved_verdict",
    "settings_are_frozen",
    "settled",
    "share_batch",
    "skip_question",
    "skipped_questions",
    "withdraw",
]
