"""Services for patient data: the workspace's rules, patient data in texts and in pixels."""

from __future__ import annotations

from privacy.service.pixels import (
    PixelState,
    decide_images,
    next_looks,
    pixel_state,
    rank_images,
    ranking_told,
    record_ranks,
    removed_images,
)
from privacy.service.rules import CONSEQUENCES, change_rules, kept_how, pseudonym_key, rules
from privacy.service.texts import (
    FoundHits,
    HitReport,
    find_hits,
    hit_report,
    hits,
    record_hits,
    search_with_headers,
)

__all__ = [
    "CONSEQUENCES",
    "FoundHits",
    "HitReport",
    "PixelState",
    "change_rules",
    "decide_images",
    "find_hits",
    "hit_report",
    "hits",
    "kept_how",
    "next_looks",
    "pixel_state",
    "pseudonym_key",
    "rank_images",
    "ranking_told",
    "record_hits",
    "record_ranks",
    "removed_images",
    "rules",
    "search_with_headers",
]
