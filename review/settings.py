"""Compares settings of a batch, and describes the differences."""

from __future__ import annotations

from domain.batches import BatchSettings
from domain.errors import InvalidValue

#: Settings that can't change once judging has begun, with their names in messages.
FROZEN = {"mode": "Mode", "parts": "Parts", "show_report": "Report"}
_SHOWN = 60  # characters of a long text


def frozen_changes(before: BatchSettings, after: BatchSettings) -> list[str]:
    """The names of the changed settings that can't change once judging has begun."""
    return [word for name, word in FROZEN.items() if getattr(before, name) != getattr(after, name)]


def check_anchors(settings: BatchSettings) -> None:
    """Check the anchors of the ratings.

    Raises:
        InvalidValue: one is empty.
    """
    for rating, texts in settings.anchors.items():
        for value, text in enumerate(texts, start=1):
            if not text.strip():
                name = rating.replace("_", " ")
                raise InvalidValue("anchors", f"say what {value} of {name} means; it is empty")


def settings_differences(saved: BatchSettings, mine: BatchSettings) -> list[str]:
    """A text for each setting that differs, with the saved and the user's value."""
    found = [
        f"{word} {_plain(getattr(saved, name))} (saved), {_plain(getattr(mine, name))} (yours)"
        for name, word in FROZEN.items()
        if getattr(saved, name) != getattr(mine, name)
    ]
    if saved.guideline != mine.guideline:
        there, here = _where_they_part(saved.guideline, mine.guideline)
        found.append(f"Guideline “{there}” (saved), “{here}” (yours)")
    for rating, texts in saved.anchors.items():
        for value, (theirs, ours) in enumerate(zip(texts, mine.anchors[rating], strict=True), start=1):
            if theirs != ours:
                found.append(
                    f"Anchor {rating.replace('_', ' ')} {value} “{theirs}” (saved), “{ours}” (yours)"
                )
    return found


def _plain(value: object) -> str:
    return {True: "shown", False: "not shown"}[value] if isinstance(value, bool) else str(value)


def _where_they_part(one: str, other: str) -> tuple[str, str]:
    """Both texts from the first different character on, shortened."""
    start = next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    start = max(0, start - 15)
    return _cut(one, start), _cut(other, start)


def _cut(text: str, start: int) -> str:
    rest = text[start : start + _SHOWN]
    return f"{'…' if start else ''}{rest}{'…' if len(text) > start + _SHOWN else ''}" or "empty"
