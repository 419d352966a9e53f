"""Describes the result of ranking images by the text in their pixels."""

from __future__ import annotations

from imaging.burned_in_text import OWN_METHOD


def describe_ranking(ranking: tuple[str, list[tuple[str, float, int]]]) -> str:
    """Describe the result of :func:`privacy.service.rank_images` in a sentence for the user."""
    text_count = sum(score > 0 for _, score, _ in ranking[1])
    if ranking[0] == OWN_METHOD:
        return (
            f"{len(ranking[1]):,} images ranked by {ranking[0]}; {text_count:,} may contain letters. Install "
            "tesseract to rank by recognised words."
        )
    return f"{len(ranking[1]):,} images ranked by {ranking[0]}; text found in {text_count:,}."
