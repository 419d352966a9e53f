"""``cli.py image``: convert radiographs to PNG files, for models and other software."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from commands.arguments import Subparsers
from domain.count_texts import count_text
from imaging.errors import UnreadableImage
from imaging.guarded_decoder import GuardedDecoder
from imaging.radiograph import Window
from imaging.render_folder import RenderJob, plan_file, plan_folder, render_all
from parallel.executors import is_cluster, open_executor

_WRONG_USAGE = 2


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("image", description="Convert image files.")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    render = verbs.add_parser(
        "render",
        help="convert DICOM, PNG or JPEG files to PNG, one file or a folder",
        description="Write each radiograph as a greyscale PNG with low values black (MONOCHROME2). A folder "
        "is processed with its subfolders, and its structure is kept. Existing PNG files are replaced. "
        "Files that cannot be read are listed with file and attribute; all others are written.",
    )
    render.add_argument("source", metavar="FILE|DIR", type=Path)
    render.add_argument(
        "out", metavar="OUT", type=Path, help="a folder, or for a single file a name that ends in .png"
    )
    render.add_argument(
        "--quarter",
        action="store_true",
        help="also write NAME.quarter.png, reduced to a quarter of width and height by averaging",
    )
    render.add_argument(
        "--bits", type=int, choices=(8, 16), default=8,
        help="8: the default display (default). 16: the full value range of the file, linear",
    )  # fmt: skip
    render.add_argument(
        "--window", type=float, nargs=2, metavar=("CENTER", "WIDTH"),
        help="use this window, in values after the modality transform",
    )  # fmt: skip
    render.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, metavar="N",
        help="number of processes (default: one per processor); unused on a cluster (docs/settings.md)",
    )  # fmt: skip
    render.set_defaults(run=run, needs_workspace=False)


def run(args: argparse.Namespace) -> int:
    """Render the images. Returns 1 if any file was refused, 2 if the arguments are not valid."""
    usage_error = _check_usage(args)
    if usage_error is not None:
        print(usage_error, file=sys.stderr)
        return _WRONG_USAGE
    if args.source.is_dir():
        jobs, other_count = plan_folder(args.source, args.out, quarter=args.quarter)
    else:
        jobs, other_count = [plan_file(args.source, args.out, quarter=args.quarter)], 0
    window = None
    if args.window is not None:
        window = Window(center=args.window[0], width=args.window[1], name="Chosen")
    processes = min(args.processes, max(1, len(jobs)))
    refusals = _render(jobs, processes=processes, bits=args.bits, window=window)
    for refusal in refusals:
        print(refusal, file=sys.stderr)
    summary = f"{len(jobs) - len(refusals):,} of {len(jobs):,} radiographs written to {args.out}."
    print(summary + (f" {count_text(other_count, 'other file')} skipped." if other_count else ""))
    return 1 if refusals else 0


def _render(
    jobs: list[RenderJob], *, processes: int, bits: int, window: Window | None
) -> list[UnreadableImage]:
    refusals = []
    with _open_renderer(processes) as (executor, decoder):
        results = render_all(jobs, executor=executor, decoder=decoder, bits=bits, window=window)
        for done_count, refusal in enumerate(results, start=1):
            if refusal is not None:
                refusals.append(refusal)
            if len(jobs) > 1:
                print(f"\r{done_count:,} of {len(jobs):,}", end="", file=sys.stderr, flush=True)
    if len(jobs) > 1:
        print(file=sys.stderr)
    return refusals


@contextmanager
def _open_renderer(processes: int) -> Iterator[tuple[Executor, GuardedDecoder | None]]:
    """Open the cluster if one is set; otherwise threads that share the processes of one decoder."""
    if is_cluster():
        with open_executor() as executor:
            yield executor, None
    else:
        with GuardedDecoder(workers=processes) as decoder, ThreadPoolExecutor(processes) as threads:
            yield threads, decoder


def _check_usage(args: argparse.Namespace) -> str | None:
    if not args.source.exists():
        return f"{args.source} does not exist."
    if args.processes < 1:
        return f"--processes must be at least 1, not {args.processes}."
    if args.window is not None and not (abs(args.window[0]) < 1e9 and 1 <= args.window[1] < 1e9):
        return f"--window: {args.window[0]:g} {args.window[1]:g} is not a center and a width of at least 1."
    if args.source.is_dir() and args.out.exists() and not args.out.is_dir():
        return f"{args.out} is a file. If the source is a folder, OUT must be a folder."
    if args.source.is_dir() and args.out.resolve() == args.source.resolve():
        return (
            f"{args.out} is the source folder, so PNG files in it would be overwritten. Choose another OUT."
        )
    if not args.source.is_dir():
        job = plan_file(args.source, args.out, quarter=args.quarter)
        if args.source.resolve() in {job.full.resolve(), job.quarter and job.quarter.resolve()}:
            return f"{args.source} would be overwritten. Choose another OUT."
    return None
