"""A leaderboard as a static web site: one page per leaderboard and the same figures as JSON.

The files refer to nothing outside their folder and contain no script, so they can be opened from a disk.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from domain.leaderboards import ModelAccess
from leaderboard.receipts import score_to_plain
from leaderboard.standings import Standings
from leaderboard.standings_text import (
    API_NOTE,
    MAP_NOTE,
    build_significance_map,
    describe_leaderboard,
    describe_limits,
    describe_method,
    list_difference_rows,
    list_standing_rows,
)

FORMAT = "overread.leaderboard/1"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1d21; margin: 2rem auto; max-width: 72rem; padding: 0
1rem; } table { border-collapse: collapse; width: 100%; margin: 1rem 0 2rem; font-variant-numeric:
tabular-nums; } th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid #d6dade;
vertical-align: top; } th { border-bottom: 2px solid #1a1d21; }
.wide { overflow-x: auto; }
p.note { color: #4b5259; }
td.better { background: #d7ecdc; } td.worse { background: #f4dddb; }
"""


def write_site(standings: Sequence[Standings], folder: Path, *, now: datetime) -> list[Path]:
    """Write the site and return its files.

    Args:
        standings: the leaderboards.
        folder: the folder, which is created; files of the same names are replaced, each atomically.
        now: the time that the pages state.
    """
    if not folder.exists():
        folder.mkdir(parents=True)
        folder.chmod(0o755)  # a site is for everybody, unlike other files of the app
    page_names = _choose_names(standings)
    contents = {"index.html": _render_index(standings, page_names, now)}
    for board_standings in standings:
        name = page_names[board_standings.leaderboard.id]
        contents[f"{name}.html"] = _render_leaderboard(board_standings, name, now)
        contents[f"{name}.json"] = (
            json.dumps(to_plain(board_standings, now=now), ensure_ascii=False, indent=1) + "\n"
        )
    paths = []
    for name, content in contents.items():
        partial = folder / f".{name}.partial"
        partial.write_text(content, encoding="utf-8")
        partial.chmod(0o644)
        partial.replace(folder / name)
        paths.append(folder / name)
    return paths


def to_plain(standings: Standings, *, now: datetime) -> dict[str, Any]:
    """Return a leaderboard as JSON values; accuracies, limits and differences are fractions."""
    board = standings.leaderboard
    return {
        "format": FORMAT,
        "name": board.name,
        "release": f"{board.dataset} {board.release}",
        "version": board.version,
        "manifest_sha256": board.manifest_sha256,
        "questions": board.questions,
        "patients": board.clusters,
        "quotas": asdict(board.quotas),
        "ladder": board.uses_ladder,
        "seed": board.seed,
        "written_at": now.isoformat(timespec="seconds"),
        "teams": [
            {
                "rank": row.rank,
                "rank_low": row.rank_low,
                "rank_high": row.rank_high,
                "group": row.group,
                "team": row.team,
                "method": row.submission.details.method,
                "description": row.submission.details.description,
                "url": row.submission.details.url,
                "api_model": row.submission.details.access is ModelAccess.API,
                "submitted_at": row.submission.submitted_at.isoformat(),
                **score_to_plain(row.score),
            }
            for row in standings.rows
        ],
        "references": [asdict(reference) for reference in standings.references],
        "differences": [asdict(difference) for difference in standings.differences],
    }


def _choose_names(standings: Sequence[Standings]) -> dict[int, str]:
    """Return a file name without ending for each leaderboard, safe in addresses.

    It ends with the id, so it is unique and does not change when other leaderboards are added.
    """
    page_names: dict[int, str] = {}
    for board_standings in standings:
        slug = (
            re.sub(r"[^a-z0-9]+", "-", board_standings.leaderboard.name.casefold()).strip("-")
            or "leaderboard"
        )
        page_names[board_standings.leaderboard.id] = f"{slug}-{board_standings.leaderboard.id}"
    return page_names


def _render_index(standings: Sequence[Standings], page_names: Mapping[int, str], now: datetime) -> str:
    links = "".join(
        f'<li><a href="{page_names[board.id]}.html">{html.escape(board.name)}</a>: '
        f"{html.escape(describe_leaderboard(board))}</li>"
        for board in (board_standings.leaderboard for board_standings in standings)
    )
    return _render_page("Leaderboards", f"<ul>{links}</ul>" if links else "<p>No leaderboards.</p>", now)


def _render_leaderboard(standings: Standings, name: str, now: datetime) -> str:
    board = standings.leaderboard
    parts = [
        f"<p>{html.escape(describe_leaderboard(board))}</p>",
        _render_table(list_standing_rows(standings)),
        f'<p class="note">{html.escape(describe_method(standings))} {html.escape(API_NOTE)}</p>',
        f'<p class="note">{html.escape(describe_limits(board))}</p>',
    ]
    if standings.differences:
        parts += [
            "<h2>Significance map</h2>",
            f'<p class="note">{MAP_NOTE}</p>',
            _render_table(build_significance_map(standings)),
            "<h2>Differences</h2>",
            _render_table(list_difference_rows(standings)),
        ]
    parts += _render_methods(standings)
    parts.append(
        f'<p><a href="{name}.json">All figures as JSON</a> · <a href="index.html">All leaderboards</a></p>'
    )
    return _render_page(board.name, "\n".join(parts), now)


def _render_methods(standings: Standings) -> list[str]:
    """Return the descriptions and addresses that teams state."""
    lines = []
    for row in standings.rows:
        details = row.submission.details
        url = html.escape(details.url)
        link = f' <a rel="nofollow noreferrer" href="{url}">{url}</a>' if url else ""
        if details.description or link:
            lines.append(
                f"<dt>{html.escape(row.team)}: {html.escape(details.method)}</dt>"
                f"<dd>{html.escape(details.description)}{link}</dd>"
            )
    return ["<h2>Methods</h2><dl>", *lines, "</dl>"] if lines else []


def _render_table(rows: Sequence[Mapping[str, Any]]) -> str:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(_render_cell(row.get(column, "")) for column in columns) + "</tr>" for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _render_cell(value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    class_attribute = f' class="{text}"' if text in ("better", "worse") else ""
    return f"<td{class_attribute}>{html.escape(text)}</td>"


def _render_page(title: str, body: str, now: datetime) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{html.escape(title)}</h1>\n"
        f'{body}\n<p class="note">Written {now:%Y-%m-%d %H:%M} UTC.</p></body></html>\n'
    )
