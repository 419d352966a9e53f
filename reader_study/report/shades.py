"""Background and text colours of the cells and bars of figures. A shade is a value from -1 to 1."""

from __future__ import annotations

#: Shades from 0 to 1 are pale to dark blue, from 0 to -1 pale to dark orange. The scale suits readers with
#: red-green colour blindness.
_PALE, _POSITIVE, _NEGATIVE = (232, 240, 246), (24, 84, 128), (164, 74, 22)
#: The colours of values that are not defined or have too few cases. They are readable in both themes.
GREY, ON_GREY = "#666f77", "#ffffff"


def cell_colour(shade: float) -> str:
    """Return the background colour of a shade, which is clipped to -1 to 1."""
    return f"#{''.join(f'{channel:02x}' for channel in _mix_colour(shade))}"


def text_colour(shade: float) -> str:
    """Return black or white, whichever has more contrast with the shade; the contrast is at least 4.5 : 1.

    Source: WCAG 2.2, success criterion 1.4.3 (contrast), and its relative luminance.
    """
    luminance = _luminance(_mix_colour(shade)) + 0.05
    return "#000000" if luminance / 0.05 >= 1.05 / luminance else "#ffffff"


def _mix_colour(shade: float) -> tuple[int, ...]:
    amount, end_colour = min(1.0, abs(shade)), _POSITIVE if shade >= 0 else _NEGATIVE
    return tuple(round(pale + (full - pale) * amount) for pale, full in zip(_PALE, end_colour, strict=True))


def _luminance(rgb: tuple[int, ...]) -> float:
    channels = (value / 255 for value in rgb)
    linear = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels
    )
    return sum(weight * component for weight, component in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
