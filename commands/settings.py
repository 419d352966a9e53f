"""``cli.py settings``: show or change the settings of a batch; close or reopen it."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.batches import Batch, BatchSettings, FormScope, Mode
from domain.errors import InvalidValue
from review.service import change_settings, close_batch, load_named_batch, reopen_batch
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "settings",
        description="Without options, print the settings as JSON. Mode, parts, the report and one-key accept "
        "cannot be changed after the first verdict; guideline and anchors can.",
    )
    parser.add_argument("batch", metavar="BATCH")
    parser.add_argument("--mode", choices=[mode.value for mode in Mode])
    parser.add_argument(
        "--parts", choices=[scope.value for scope in FormScope], help="which fields of the form are requested"
    )
    parser.add_argument(
        "--one-key-accept",
        choices=["on", "off"],
        help="accepting gives empty fields the top rating or yes; the difficulty may stay empty",
    )
    parser.add_argument(
        "--report",
        choices=["show", "hide"],
        help="whether reviewers may open the report after rating image alignment",
    )
    parser.add_argument("--guideline", type=Path, metavar="FILE", help="Markdown file")
    parser.add_argument(
        "--anchors",
        type=Path,
        metavar="FILE",
        help="JSON file with five texts per rating, as in the printed settings",
    )
    state = parser.add_mutually_exclusive_group()
    state.add_argument("--close", action="store_true", help="close the batch for further verdicts")
    state.add_argument("--reopen", action="store_true", help="reopen the batch")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Apply the changes, then print the resulting settings. Returns 0; raises DomainError if refused."""
    by, now = command_line_person(), datetime.now(UTC)
    with read_only_session() as db:
        batch = load_named_batch(db, by=by, name=args.batch)
    settings = _apply_changes(batch.settings, args)
    with unit_of_work() as db:
        if settings != batch.settings:
            batch = change_settings(
                db, by=by, batch=batch.name, settings=settings, revision=batch.revision, now=now
            )
        if args.close:
            batch = close_batch(db, by=by, batch=batch.name, now=now)
        if args.reopen:
            batch = reopen_batch(db, by=by, batch=batch.name, now=now)
    print(json.dumps(_batch_to_plain(batch), ensure_ascii=False, indent=2))
    return 0


def _apply_changes(settings: BatchSettings, args: argparse.Namespace) -> BatchSettings:
    changes: dict[str, Any] = {}
    if args.mode:
        changes["mode"] = Mode(args.mode)
    if args.parts:
        changes["parts"] = FormScope(args.parts)
    if args.report:
        changes["show_report"] = args.report == "show"
    if args.one_key_accept:
        changes["one_key_accept"] = args.one_key_accept == "on"
    if args.guideline:
        changes["guideline"] = _read_text(args.guideline)
    if args.anchors:
        changes["anchors"] = _read_anchors(args.anchors)
    return replace(settings, **changes)


def _read_anchors(path: Path) -> dict[str, tuple[str, ...]]:
    try:
        plain = json.loads(_read_text(path))
    except ValueError as error:
        raise InvalidValue("anchors", f"{path} is not valid JSON: {error}") from error
    if not isinstance(plain, dict) or not all(
        isinstance(texts, list) and all(isinstance(text, str) for text in texts) for texts in plain.values()
    ):
        raise InvalidValue("anchors", f'{path} must be {{"clinical_quality": [five texts], …}}')
    return {rating: tuple(texts) for rating, texts in plain.items()}


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidValue("file", f"{path} cannot be read as text: {error}") from error


def _batch_to_plain(batch: Batch) -> dict[str, Any]:
    settings = batch.settings
    return {
        "batch": batch.name,
        "state": batch.state.value,
        "revision": batch.revision,
        "mode": settings.mode.value,
        "parts": settings.parts.value,
        "show_report": settings.show_report,
        "one_key_accept": settings.one_key_accept,
        "guideline": settings.guideline,
        "anchors": {rating: list(texts) for rating, texts in settings.anchors.items()},
    }
