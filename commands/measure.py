"""``cli.py measure``: compute every measure from a file of ratings or of boxes, without a workspace."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.errors import Refused
from domain.protocols import Adjustment, AgreementBasis, MissingAnswers
from measures.agreement import CONFIDENCE, Weights
from measures.all_measures import Measures, compute_measures
from measures.box_measures import BOXES, BoxMeasures, BoxSettings, compute_box_measures
from measures.families import EVERY_PAIR, READERS_WITH_MODELS
from measures.free_response import HitRule
from measures.ratings_file import RATINGS, read_table
from measures.records.settings import Settings

if TYPE_CHECKING:
    import pandas as pd


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "measure",
        description="Read a CSV file of ratings, one answer per line (question_id, rater, answer and, if "
        "known, kind, task, category, exam, patient, n_options, arm, period, correct, score, probability, "
        "set_reference, selected), and write all measures with n and interval as "
        "JSON. A file of boxes, one per line (case, rater, x_min, y_min, x_max, y_max and, if known, kind, "
        "arm, patient, score, set_reference), gives the overlap of raters and, from the scores, AFROC and "
        "weighted AFROC. Needs no workspace. The same file and options give the same bytes.",
    )
    parser.add_argument("ratings", type=Path, metavar="RATINGS.csv")
    parser.add_argument("--out", type=Path, required=True, metavar="measures.json")
    parser.add_argument(
        "--reference",
        metavar="RATER",
        help="the rater used as ground truth (default: the rater whose kind is reference)",
    )
    parser.add_argument(
        "--weights",
        choices=[weights.value for weights in Weights if weights is not Weights.NONE],
        help="weights for ordered answers (default: none)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the resamples (default 0)")
    parser.add_argument(
        "--bootstrap",
        type=int,
        default=2000,
        metavar="N",
        help="number of resamples; 0 for none (default 2000)",
    )
    parser.add_argument(
        "--confidence",
        type=float,
        default=CONFIDENCE,
        metavar="SHARE",
        help="confidence level of the intervals (default 0.95)",
    )
    parser.add_argument(
        "--family",
        default=EVERY_PAIR,
        metavar="WHICH",
        help=f"the family of comparisons within which p values are adjusted: {EVERY_PAIR} (default), "
        f"{READERS_WITH_MODELS}, or pairs of raters as A:B,readers:C",
    )
    parser.add_argument(
        "--adjustment",
        choices=[adjustment.value for adjustment in Adjustment],
        default=Adjustment.HOLM.value,
        help="the adjustment of p values: holm (default) or bh, Benjamini-Hochberg",
    )
    parser.add_argument(
        "--missing-answers",
        choices=[rule.value for rule in MissingAnswers],
        default=MissingAnswers.COMMON.value,
        help="questions that a model did not answer: compare on the common questions (default) or count them "
        "as wrong",
    )
    parser.add_argument(
        "--leave-one-out",
        action="store_true",
        help="also score each reader who helped to set the reference (set_reference) against the "
        "majority of the other such readers",
    )
    parser.add_argument(
        "--agreement",
        choices=[basis.value for basis in AgreementBasis],
        default=AgreementBasis.ANSWERS.value,
        help="agreement of the answers (default), or of correctness: both correct, or both incorrect",
    )
    parser.add_argument(
        "--missing-in-agreement",
        metavar="ANSWER",
        help="an answer that counts as missing in agreement, such as that of a failed reply; by default it "
        "is a category of its own",
    )
    parser.add_argument(
        "--positive",
        metavar="ANSWER",
        help="compute sensitivity, specificity, predictive values and, from the column score, the AUC for "
        "this answer",
    )
    parser.add_argument(
        "--threshold",
        type=float,
        metavar="SCORE",
        help="with --positive: a line without an answer has the positive answer from this score on",
    )
    parser.add_argument(
        "--jackknife", action="store_true", help="covariance of AUCs by the jackknife instead of DeLong's"
    )
    parser.add_argument(
        "--hit",
        choices=[rule.value for rule in HitRule],
        default=HitRule.IOU.value,
        help="boxes: a mark hits a lesion if their IoU reaches --iou (default), or if its centre is inside "
        "the lesion's box",
    )
    parser.add_argument(
        "--iou",
        type=float,
        default=0.5,
        metavar="SHARE",
        help="boxes: the smallest IoU of a hit (default 0.5)",
    )
    parser.set_defaults(run=run, needs_workspace=False)


def run(args: argparse.Namespace) -> int:
    """Compute the measures and write them. Returns 0; raises Refused with line and field."""
    # The output file is moved into place, which would replace a device or pipe such as /dev/stdout.
    is_special = args.out.exists() and not args.out.is_file()
    if is_special or not args.out.absolute().parent.is_dir():
        raise Refused(f"--out {args.out}: choose a file in an existing folder")
    layout, table = read_table(args.ratings, BOXES, RATINGS)
    compute = _compute_boxes if layout is BOXES else _compute_ratings
    try:
        measures = compute(args, table)
    except Refused as error:
        if str(error).startswith("line "):
            raise Refused(f"{args.ratings}, {error}") from error
        raise
    out = args.out.resolve()  # keep a symbolic link: write to its target
    partial_file = out.with_name(out.name + ".part")
    partial_file.write_text(measures.to_json(), encoding="utf-8")
    partial_file.replace(out)
    counts = {name: len(records) for name, records in measures.to_records().items() if records}
    print(f"{args.out}: " + ", ".join(f"{count:,} {name}" for name, count in counts.items()))
    return 0


def _compute_boxes(args: argparse.Namespace, table: pd.DataFrame) -> BoxMeasures:
    settings = BoxSettings(
        reference=args.reference,
        hit=HitRule(args.hit),
        threshold=args.iou,
        seed=args.seed,
        bootstrap=args.bootstrap,
        confidence=args.confidence,
    )
    return compute_box_measures(table, settings)


def _compute_ratings(args: argparse.Namespace, ratings: pd.DataFrame) -> Measures:
    settings = Settings(
        reference=args.reference,
        weights=Weights(args.weights or Weights.NONE),
        seed=args.seed,
        bootstrap=args.bootstrap,
        confidence=args.confidence,
        family=args.family,
        adjustment=Adjustment(args.adjustment),
        missing_answers=MissingAnswers(args.missing_answers),
        positive=args.positive,
        threshold=args.threshold,
        jackknife=args.jackknife,
        agreement_basis=AgreementBasis(args.agreement),
        missing_in_agreement=args.missing_in_agreement,
        leave_one_out=args.leave_one_out,
    )
    if len(ratings) > 50_000:
        print(f"{count_text(len(ratings), 'rating')} read. Computing measures …", file=sys.stderr)
    return compute_measures(ratings, settings=settings)
