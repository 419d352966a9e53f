"""Services for patient data: the workspace's rules, patient data in texts and in pixels."""

from __future__ import annotations

from privacy.service.pixels import (
    PixelState,
    decide_images,
    load_next_images,
    load_pixel_state,
    rank_images,
    describe_ranking,
    record_ranks,
    load_removed_images,
)
from privacy.service.rules import CONSEQUENCES, change_rules, load_import_rules, load_pseudonym_key, load_rules
from privacy.service.texts import (
    TextSearchResult,
    HitReport,
    find_hits,
    load_hit_report,
    list_hits,
    record_hits,
    search_with_headers,
)

__all__ = [
    "CONSEQUENCES",
    "TextSearchResult",
    "HitReport",
    "PixelState",
    "change_rules",
    "decide_images",
    "find_hits",
    "load_hit_report",
    "list_hits",
    "load_import_rules",
    "load_next_images",
    "load_pixel_state",
    "load_pseudonym_key",
    "rank_images",
    "describe_ranking",
    "record_hits",
    "record_ranks",
    "load_removed_images",
    "load_rules",
    "search_with_headers",
]
