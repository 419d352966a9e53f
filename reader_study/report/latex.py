"""Writes tables of a report as LaTeX, for the package booktabs."""

from __future__ import annotations

from measures.results import Record

#: The characters that LaTeX interprets, and their replacements.
_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
        "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "–": "--", "−": "$-$",
        "“": "``", "”": "''", "’": "'", "…": r"\dots{}", "†": r"\dag{}", "‡": r"\ddag{}", "\n": " ",
    }
)  # fmt: skip
_SMALLEST_SHOWN = 0.0005


def records_to_latex(records: list[Record], *, caption: str) -> str:
    r"""Return records as a ``tabular`` with rules of booktabs, and with three decimals per number.

    >>> print(records_to_latex([{"rater": "a_b", "n": 12, "p": 0.00001}], caption="50 %"), end="")
    % needs \usepackage{booktabs}
    \begin{table}
    \caption{50 \%}
    \begin{tabular}{lrr}
    \toprule
    rater & n & p \\
    \midrule
    a\_b & 12 & $<$ 0.001 \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    names = list(records[0]) if records else []
    alignment = "".join("r" if _is_numeric(records, name) else "l" for name in names)
    lines = [
        r"% needs \usepackage{booktabs}", r"\begin{table}", rf"\caption{{{escape_latex(caption)}}}",
        rf"\begin{{tabular}}{{{alignment or 'l'}}}", r"\toprule",
    ]  # fmt: skip
    if names:
        lines += [_join_row([name.replace("_", " ") for name in names]), r"\midrule"]
        lines += [_join_row([_format_value(value) for value in record.values()]) for record in records]
    else:
        lines.append(r"no rows \\")
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def escape_latex(text: str) -> str:
    """Return the text with the characters that LaTeX interprets escaped."""
    return text.translate(_ESCAPES)


def _is_numeric(records: list[Record], name: str) -> bool:
    values = [record[name] for record in records if record[name] is not None]
    return bool(values) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values
    )


def _format_value(value: object) -> str:
    if value is None:
        return "--"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "$<$ 0.001" if 0 < value < _SMALLEST_SHOWN else f"{value:.3f}".replace("-", "$-$")
    return escape_latex(str(value))


def _join_row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
