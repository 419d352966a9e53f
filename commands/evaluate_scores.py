"""``cli.py evaluate scores``: scores of all models on one split of a release, and tables of the papers."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.output import ProgressPrinter
from domain.count_texts import count_text
from domain.errors import InvalidValue, NotFound
from evaluation import service as evaluations
from release.splits import Split
from storage.unit_of_work import read_only_session, unit_of_work

if TYPE_CHECKING:
    from evaluation.service import EvaluatedSplit, SplitScores

_TABLES = (
    "gemex-table-5", "gemex-table-6", "rexvqa-table-2", "rexvqa-table-3", "rexvqa-table-6",
    "rexvqa-figure-2",
)  # fmt: skip


def add_to(verbs: Subparsers) -> None:
    """Add the command and its arguments."""
    scores = verbs.add_parser(
        "scores",
        help="print the scores of all models on a split, or write tables of the papers",
        description="A-score, V-score, BLEU-1 and ROUGE-L of the answers as given, with intervals clustered "
        "by patient and the signature of each score. With --out, the tables of GEMeX and ReXVQA are written "
        "as CSV and LaTeX. Opening a private split is recorded in the audit trail.",
    )
    scores.add_argument("dataset", metavar="DATASET")
    scores.add_argument("release", metavar="RELEASE")
    scores.add_argument("--split", choices=list(Split), type=Split, default=Split.PUBLIC)
    scores.add_argument("--out", type=Path, metavar="DIR", help=f"for the tables {', '.join(_TABLES)}")
    scores.add_argument("--published", action="store_true", help="add the published models to the tables")
    scores.add_argument(
        "--columns",
        type=Path,
        metavar="FILE",
        help="CSV with question_id, evaluation, name, version, score: external scores such as BERTScore, "
        "that are stored for the release; the other scores are in percent (87, not 0.87)",
    )
    scores.add_argument(
        "--pairs",
        type=Path,
        metavar="FILE",
        help="write the texts of keys and models as JSON Lines, for external scores; not of a private split",
    )
    scores.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compute the missing scores, and print or write all."""
    by, printer = command_line_person(), ProgressPrinter()
    with read_only_session() as db:
        splits = evaluations.list_evaluated_splits(db, by=by)
    requested = (args.dataset, args.release, args.split)
    matches = [
        candidate
        for candidate in splits
        if (candidate.dataset, candidate.release, candidate.split) == requested
    ]
    if not matches:
        raise NotFound(
            f"No model has answered the {args.split} split of {args.dataset} {args.release} as given. "
            "`cli.py evaluate list` shows all evaluations."
        )
    if args.out and args.out.exists() and not args.out.is_dir():
        raise InvalidValue("--out", f"{args.out} is not a folder")
    [match] = matches
    if args.pairs:
        return _write_pairs(match, args.pairs)
    if args.columns:
        _import_columns(match, args.columns)
    evaluations.compute_scores(
        by=by,
        release_id=match.release_id,
        split=match.split,
        report=lambda done, total: printer("answers", done, total),
    )
    with unit_of_work() as db:
        scored = evaluations.open_scores(
            db, by=by, release_id=match.release_id, split=match.split, now=datetime.now(UTC)
        )
    if args.out:
        _write_tables(scored, args.out, with_published=args.published)
    else:
        _print_scores(scored)
    return 0


def _write_pairs(evaluated_split: EvaluatedSplit, path: Path) -> int:
    with read_only_session() as db:
        pairs = evaluations.load_text_pairs(db, by=command_line_person(), evaluated_split=evaluated_split)
    lines = (json.dumps(asdict(pair), ensure_ascii=False) + "\n" for pair in pairs)
    path.write_text("".join(lines), encoding="utf-8")
    print(f"Wrote {count_text(len(pairs), 'pair')} of texts to {path}.")
    return 0


def _import_columns(evaluated_split: EvaluatedSplit, path: Path) -> None:
    if not path.is_file():
        raise InvalidValue("--columns", f"{path} is not a file")
    with unit_of_work() as db:
        names = evaluations.import_score_columns(
            db,
            by=command_line_person(),
            release_id=evaluated_split.release_id,
            split=evaluated_split.split,
            content=path.read_bytes(),
            file_name=path.name,
            now=datetime.now(UTC),
        )
    print(f"Stored {', '.join(names)}.")


def _print_scores(scored: SplitScores) -> None:
    from evaluation.results_text import format_table  # noqa: PLC0415 - imports scipy, which takes a second
    from evaluation.scoreboard import (  # noqa: PLC0415 - as above
        compute_task_accuracies,
        list_signatures,
        summarise_models,
    )
    from evaluation.scores_text import (  # noqa: PLC0415 - as above
        list_answer_rows,
        list_overall_rows,
        list_score_rows,
    )

    rows = scored.questions.numbers >= 0
    summaries = summarise_models(scored.questions, scored.models, rows)
    print(f"{scored.evaluated_split.title}: {count_text(len(rows), 'question')}, percent with 95 % intervals")
    for title, lines in (
        ("Scores", list_score_rows(summaries, scored.models)),
        (
            "Micro and macro",
            list_overall_rows(compute_task_accuracies(scored.questions, scored.models, rows)),
        ),
        ("Answers", list_answer_rows(summaries)),
    ):
        print(f"\n{title}")
        print("\n".join(format_table(lines)))
    print("\nSignatures")
    print("\n".join(list_signatures(scored.models)))


def _write_tables(scored: SplitScores, folder: Path, *, with_published: bool) -> None:
    from evaluation.paper_tables import (  # noqa: PLC0415 - as above
        build_paper_tables,
        table_to_csv,
        table_to_latex,
    )

    folder.mkdir(parents=True, exist_ok=True)
    rows = scored.questions.numbers >= 0
    for table in build_paper_tables(scored.questions, scored.models, rows, with_published=with_published):
        (folder / f"{table.name}.csv").write_text(table_to_csv(table), encoding="utf-8")
        (folder / f"{table.name}.tex").write_text(table_to_latex(table), encoding="utf-8")
        print(f"Wrote {folder / table.name}.csv and .tex: {count_text(len(table.rows), 'row')}.")
