"""Lines of a file that were refused, with field and reason."""

from __future__ import annotations

from collections.abc import Sequence

from domain.problems import Refusal
from ui.tables import table

_SHOWN = 50  # on the page


def show_refused(refusals: Sequence[Refusal]) -> None:
    """The first of them."""
    table([{"Line": each.record, "Field": each.field, "Reason": each.reason} for each in refusals[:_SHOWN]])
