"""Services for patient data: the workspace's rules, patient data in texts and in pixels."""

from typing import TYPE_CHECKING

from domain.lazy_imports import import_on_use

if TYPE_CHECKING:
    from privacy.pixel_ranking import describe_ranking
    from privacy.service.pixels import (
        PixelState,
        decide_images,
        load_next_images,
        load_pixel_state,
        load_removed_images,
        rank_images,
        record_ranks,
    )
    from privacy.service.rules import (
        CONSEQUENCES,
        change_rules,
        load_import_rules,
        load_pseudonym_key,
        load_rules,
    )
    from privacy.service.texts import (
        HitReport,
        TextSearchResult,
        find_hits,
        list_hits,
        load_hit_report,
        record_hits,
        search_with_headers,
    )
else:
    __getattr__ = import_on_use(__name__)

__all__ = [
    "CONSEQUENCES",
    "HitReport",
    "PixelState",
    "TextSearchResult",
    "change_rules",
    "decide_images",
    "describe_ranking",
    "find_hits",
    "list_hits",
    "load_hit_report",
    "load_import_rules",
    "load_next_images",
    "load_pixel_state",
    "load_pseudonym_key",
    "load_removed_images",
    "load_rules",
    "rank_images",
    "record_hits",
    "record_ranks",
    "search_with_headers",
]
