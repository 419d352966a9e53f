"""The demo's radiographs: phantoms rendered in parallel and written as DICOM."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from demo.cases import Case, Projections
from demo.facts import ExamFacts, collect_facts
from demo.phantom import View

#: Size of the images: a sixth of the pixels of a clinical image and the same aspect ratio. Below 900 rows
#: rendering is slower, because the anatomy is then modelled on the full grid instead of a coarser one.
ROWS, COLUMNS = 1050, 860
_MAX_PROCESSES = 4
# Settings that the GNU C library reads when a process starts; other C libraries ignore them. Freed arrays
# stay with the process. Returning them to the system and clearing their pages again takes a fifth of the CPU
# time.
_KEEP_FREED_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamFiles:
    """The facts about an exam, and its file paths by radiograph id, relative to the folder."""

    facts: ExamFacts
    files: dict[str, str]


def render_cases(
    cases: Sequence[Case],
    folder: Path,
    *,
    rows: int = ROWS,
    columns: int = COLUMNS,
    on_done: Callable[[int], None] = lambda _number: None,
    while_rendering: Callable[[], None] = lambda: None,
) -> list[ExamFiles]:
    """Render every case and write its files to ``folder``.

    ``on_done`` is called with the number of finished cases, and ``while_rendering`` once in this process
    after the worker processes have started.
    """
    render = partial(render_case, folder=folder, rows=rows, columns=columns)
    workers = min(_MAX_PROCESSES, os.cpu_count() or 1, len(cases))
    exams = []
    os.environ.update(_KEEP_FREED_MEMORY)  # for the processes started below
    # "spawn": a forked child would inherit open database connections.
    spawn_context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=spawn_context, initializer=_prepare_process) as pool:
        rendered_exams = pool.map(render, cases)
        while_rendering()
        for number, exam in enumerate(rendered_exams, start=1):
            exams.append(exam)
            on_done(number)
    return exams


def _prepare_process() -> None:
    """Ignore interrupts, and use one thread for matrix operations.

    Ctrl+C reaches every process, and a worker that ends could hold a lock of the pool. Several threads per
    worker would compete with the other workers, which doubles the CPU time.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only for processes that render

    from demo.phantom import dicom, render  # noqa: F401, PLC0415 - the limit applies to loaded libraries

    threadpool_limits(1)


def render_case(case: Case, *, folder: Path, rows: int, columns: int) -> ExamFiles:
    """Render one case and write its files."""
    from demo.phantom.dicom import write_dicom  # noqa: PLC0415 - only for processes that render
    from demo.phantom.render import render_exam  # noqa: PLC0415 - only for processes that render

    exam = render_exam(
        case.seed,
        findings=case.findings,
        sex=case.sex,
        age=case.age,
        rows=rows,
        columns=columns,
        views=tuple(View) if case.projections is Projections.PA_AND_LATERAL else (View.PA,),
    )
    facts = collect_facts(case, exam)
    paths = write_dicom(exam, folder / case.exam_id)
    if case.projections is Projections.AP:
        _set_ap_view(paths[0])
    ids = (facts.frontal, "lateral") if facts.lateral else (facts.frontal,)
    files = {name: f"{case.exam_id}/{path.name}" for name, path in zip(ids, paths, strict=True)}
    return ExamFiles(facts=facts, files=files)


def _set_ap_view(path: Path) -> None:
    """Set the view position of the file to AP, as for patients in bed (DICOM CID 4010)."""
    import pydicom  # noqa: PLC0415 - only for processes that render

    dataset = pydicom.dcmread(path)
    dataset.ViewPosition = "AP"
    dataset.SeriesDescription = "Chest AP, portable"
    dataset.StudyDescription = "Chest, one view (phantom)"
    view = dataset.ViewCodeSequence[0]
    view.CodeValue, view.CodeMeaning = "399348003", "antero-posterior"
    dataset.save_as(path, enforce_file_format=True)
