"""Compares settings of a batch, and describes the differences."""

from __future__ import annotations

from domain.batches import BatchSettings
from domain.errors import InvalidValue

#: Settings that cannot be changed once review has begun, with their names in messages.
FROZEN_SETTINGS = {
    "mode": "Mode",
    "parts": "Fields requested",
    "show_report": "Report",
    "one_key_accept": "One-key accept",
}
_MAX_CHARACTERS = 60  # long texts are cut to this length


def list_frozen_changes(before: BatchSettings, after: BatchSettings) -> list[str]:
    """Return the names of the changed settings that cannot be changed once review has begun."""
    return [label for name, label in FROZEN_SETTINGS.items() if getattr(before, name) != getattr(after, name)]


def check_anchors(settings: BatchSettings) -> None:
    """Check the anchors of the ratings.

    Raises:
        InvalidValue: an anchor is empty.
    """
    for rating, anchor_texts in settings.anchors.items():
        for value, text in enumerate(anchor_texts, start=1):
            if not text.strip():
                name = rating.replace("_", " ")
                raise InvalidValue("anchors", f"{name}: the description of {value} is empty")


def describe_differences(saved: BatchSettings, own: BatchSettings) -> list[str]:
    """Return a text for each setting that differs, with the saved value and the user's value."""
    differences = [
        f"{label} {_format_setting(name, getattr(saved, name))} (saved), "
        f"{_format_setting(name, getattr(own, name))} (yours)"
        for name, label in FROZEN_SETTINGS.items()
        if getattr(saved, name) != getattr(own, name)
    ]
    if saved.guideline != own.guideline:
        saved_excerpt, own_excerpt = _excerpt_first_difference(saved.guideline, own.guideline)
        differences.append(f"Guideline “{saved_excerpt}” (saved), “{own_excerpt}” (yours)")
    for rating, texts in saved.anchors.items():
        for value, (saved_text, own_text) in enumerate(zip(texts, own.anchors[rating], strict=True), start=1):
            if saved_text != own_text:
                differences.append(
                    f"Anchor {rating.replace('_', ' ')} {value} “{saved_text}” (saved), “{own_text}” (yours)"
                )
    return differences


def _format_setting(name: str, value: object) -> str:
    if not isinstance(value, bool):
        return str(value)
    on, off = ("shown", "not shown") if name == "show_report" else ("on", "off")
    return on if value else off


def _excerpt_first_difference(first: str, second: str) -> tuple[str, str]:
    """Return excerpts of both texts around the first different character."""
    start = next(
        (index for index, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]),
        min(len(first), len(second)),
    )
    start = max(0, start - 15)
    return _cut_excerpt(first, start), _cut_excerpt(second, start)


def _cut_excerpt(text: str, start: int) -> str:
    excerpt = text[start : start + _MAX_CHARACTERS]
    return f"{'…' if start else ''}{excerpt}{'…' if len(text) > start + _MAX_CHARACTERS else ''}" or "empty"
