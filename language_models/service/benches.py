"""Services for prompt benches: creating benches, blinded scoring by experts, and the report.

An expert sees a report and its outputs in random order. The data for the expert do not contain the versions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlmodel import Session

from accounts.service import load_person_by_name
from accounts.service.audit import record_action
from domain.count_texts import count_text
from domain.errors import AlreadyThere, InvalidValue, NotAllowed, NotFound, Refused, StaleRevision
from domain.language_models import Budget
from domain.mail import NoticeKind
from domain.people import Action, Person, require
from domain.prompt_bench import BENCH_SCORES, BenchCell, BenchExpert, BenchScale, BenchScore, PromptBench
from language_models.bench_order import LETTERS, order_cells, order_outputs, order_reports
from language_models.bench_report import BenchReport, GivenScore, ScoreRow, build_report
from language_models.bench_sheet import BenchOutput, BenchOverview, BenchSheet, BenchTask
from language_models.prompts import EXAM_VARIABLES, parse_prompt, read_exam_variables
from language_models.requests import ModelRequest
from language_models.service.endpoints import load_endpoint
from language_models.service.prompts import load_prompt
from language_models.service.runs import create_run, load_progress, read_output
from notifications.service import notify
from storage.images.radiographs import find_image
from storage.intake.datasets import load_dataset
from storage.intake.exams import load_exam
from storage.language_models import benches as bench_storage
from storage.language_models import calls as ledger
from storage.language_models import runs
from storage.language_models.exams import list_exams_with_report
from storage.language_models.prompts import PromptVersion

__all__ = [
    "MAX_REPORTS",
    "assign_experts",
    "create_bench",
    "find_bench_image",
    "list_bench_scores",
    "list_bench_tasks",
    "list_benches",
    "load_bench",
    "load_bench_report",
    "load_scorers",
    "open_output",
    "score_output",
]

#: The most reports of a bench, because experts read each of them.
MAX_REPORTS = 500
_STAGE = "prompt bench"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outputs:
    """The outputs of a bench: texts by (report, version), number of waiting ones, failed ones by version."""

    texts: dict[tuple[int, int], str]
    waiting: int
    failed: dict[int, int]


def create_bench(
    db: Session,
    *,
    by: Person,
    name: str,
    dataset: str,
    endpoint: str,
    prompts: Sequence[str],
    reports: int,
    seed: int,
    with_radiographs: bool = False,
    budget: Budget | None = None,
    now: datetime,
) -> PromptBench:
    """Draw reports at random and create one run for each version of the prompt. Nothing is sent yet.

    Args:
        db: a session that can write.
        by: the acting person.
        name: the name of the bench.
        dataset: the dataset of the reports.
        endpoint: the name of the endpoint that all versions use.
        prompts: the versions, such as ``mcq@1`` and ``mcq@2``; the earlier one first.
        reports: the number of reports.
        seed: determines the reports and all orders.
        with_radiographs: whether the radiographs of each exam are sent, too.
        budget: the limits of each run.
        now: the current time.

    Raises:
        AlreadyThere: a bench or a run of that name exists.
        InvalidValue: the name, the versions or the number of reports is not allowed, or a version has a
            variable that exams have no value for.
        NotFound: there is no such dataset, endpoint or version.
        Refused: the dataset does not permit the endpoint.
    """
    require(by, Action.RUN_MODELS)
    if not name.strip() or len(name) > 60:
        raise InvalidValue("name", "must have 1 to 60 characters")
    if bench_storage.list_benches(db, name=name):
        raise AlreadyThere(f"There is already a prompt bench {name}. Choose another name.")
    versions = [load_prompt(db, by=by, label=label) for label in prompts]
    if not 2 <= len({version.id for version in versions}) == len(versions) <= len(LETTERS):
        raise InvalidValue("versions", f"must be 2 to {len(LETTERS)} different versions")
    exam_row_ids = _draw_exams(db, dataset, count=reports, seed=seed)
    planned_runs = [
        create_run(
            db,
            by=by,
            name=f"{name} {version.label}",
            stage=_STAGE,
            endpoint=load_endpoint(db, by=by, name=endpoint),
            dataset=dataset,
            requests=_build_requests(db, version, exam_row_ids, with_radiographs=with_radiographs),
            prompt=version,
            budget=budget,
            now=now,
        )
        for version in versions
    ]
    for run, is_new in planned_runs:
        if not is_new:
            raise AlreadyThere(f"There is already a model run {run.name}. Choose another name for the bench.")
    bench_id = bench_storage.add_bench(
        db,
        name=name,
        dataset_id=load_dataset(db, name=dataset).id,
        seed=seed,
        exam_ids=exam_row_ids,
        run_ids=[run.id for run, _ in planned_runs],
        person_id=by.id or None,
        now=now,
    )
    record_action(
        db,
        by=by,
        action="create prompt bench",
        subject=f"prompt bench {bench_id}",
        new={
            "name": name,
            "versions": [version.label for version in versions],
            "reports": len(exam_row_ids),
            "seed": seed,
        },
        now=now,
    )
    return _load(db, bench_id=bench_id)


def list_benches(db: Session, *, by: Person) -> list[PromptBench]:
    """List all benches, the newest first."""
    require(by, Action.RUN_MODELS)
    return bench_storage.list_benches(db)


def load_bench(db: Session, *, by: Person, name: str, now: datetime) -> BenchOverview:
    """Load a bench with the progress of its runs and of its experts.

    Raises:
        NotFound: there is no such bench.
    """
    require(by, Action.RUN_MODELS)
    bench = _load(db, name=name)
    outputs = _load_outputs(db, bench)
    cells = _list_cells(bench, 0, outputs)
    done: dict[int, int] = {}
    for score in bench_storage.list_latest_scores(db, bench_id=bench.id):
        if score.score is not None and score.cell in cells:
            done[score.person_id] = done.get(score.person_id, 0) + 1
    return BenchOverview(
        bench=bench,
        runs=tuple(load_progress(db, by=by, name=version.run, now=now) for version in bench.versions),
        experts=tuple(bench_storage.list_experts(db, bench_id=bench.id)),
        total=len(cells) + len(BenchScale) * outputs.waiting,
        done=done,
    )


def assign_experts(
    db: Session, *, by: Person, bench: str, to: Sequence[str], now: datetime
) -> tuple[BenchExpert, ...]:
    """Set who scores the outputs of a bench.

    Args:
        db: a session that can write.
        by: the acting person.
        bench: the name of the bench.
        to: the sign-in names of all experts.
        now: the current time.

    Raises:
        NotFound: the bench or a person does not exist.
        Refused: a person may not score, or a person who is not in ``to`` has scored already.
    """
    require(by, Action.RUN_MODELS)
    loaded_bench = _load(db, name=bench)
    people = load_scorers(db, names=to)
    before = bench_storage.list_experts(db, bench_id=loaded_bench.id)
    scored = {score.person_id for score in bench_storage.list_latest_scores(db, bench_id=loaded_bench.id)}
    for expert in before:
        if expert.person_id in scored - {person.id for person in people}:
            raise Refused(f"{expert.name} has scored outputs of {bench} already and stays an expert of it.")
    if {expert.person_id for expert in before} == {person.id for person in people}:
        return tuple(before)
    bench_storage.set_experts(
        db, bench_id=loaded_bench.id, person_ids=[person.id for person in people], now=now
    )
    after = bench_storage.list_experts(db, bench_id=loaded_bench.id)
    record_action(
        db,
        by=by,
        action="assign bench experts",
        subject=f"prompt bench {loaded_bench.id}",
        old={"experts": [expert.name for expert in before]},
        new={"experts": [expert.name for expert in after]},
        now=now,
    )
    new_ids = {expert.person_id for expert in after} - {expert.person_id for expert in before}
    notify(
        db, by_id=by.id, person_ids=sorted(new_ids), kind=NoticeKind.SCORING, name=bench,
        path=f"score_outputs?bench={loaded_bench.id}", now=now,
    )  # fmt: skip
    return tuple(after)


def load_scorers(db: Session, *, names: Sequence[str]) -> list[Person]:
    """Load the people who are to score outputs, each once.

    Raises:
        NotFound: a person does not exist.
        Refused: a person may not score outputs.
    """
    people = [load_person_by_name(db, name=name) for name in dict.fromkeys(names)]
    for person in people:
        if not person.may(Action.SCORE_OUTPUTS):
            raise Refused(
                f"{person.name} may not score outputs. Choose a person with the role reviewer, or ask an "
                "admin for the role."
            )
    return people


def list_bench_tasks(db: Session, *, person: Person) -> tuple[BenchTask, ...]:
    """Return the benches that the person scores, the newest first."""
    require(person, Action.SCORE_OUTPUTS)
    return tuple(
        _build_task(bench, cells, _load_own_scores(db, bench, person), outputs.waiting)
        for bench in bench_storage.list_benches(db, person_id=person.id)
        for outputs in [_load_outputs(db, bench)]
        for cells in [_list_cells(bench, person.id, outputs)]
    )


def open_output(
    db: Session, *, person: Person, bench_id: int, cell: BenchCell | None = None
) -> BenchSheet | BenchTask:
    """Load a report with its outputs for an expert, and the output to score.

    Args:
        db: a read-only session.
        person: the expert.
        bench_id: the id of the bench.
        cell: the cell to open. If it is None or does not exist, the first cell without a score is opened.

    Returns:
        The sheet of the cell. If every cell has a score and none was requested, the expert's task.

    Raises:
        NotFound: the person does not score the bench.
    """
    require(person, Action.SCORE_OUTPUTS)
    bench = _find_own_bench(db, person, bench_id)
    outputs = _load_outputs(db, bench)
    cells = _list_cells(bench, person.id, outputs)
    scores = _load_own_scores(db, bench, person)
    task = _build_task(bench, cells, scores, outputs.waiting)
    index = next((index for index, candidate in enumerate(cells) if candidate == cell), None)
    if index is None:
        index = next(
            (index for index, candidate in enumerate(cells) if _find_score(scores, candidate) is None), None
        )
    if index is None:
        return task
    shown_cell = cells[index]
    exam_row_id, _ = bench_storage.list_report_exams(db, bench_id=bench.id)[shown_cell.report - 1]
    versions = _order_versions(bench, person.id, shown_cell.report, outputs)
    letters = dict(zip(versions, LETTERS, strict=False))
    other_cells = (*cells[index + 1 :], *cells[:index])
    latest = scores.get(shown_cell)
    report_order = order_reports(seed=bench.seed, person_id=person.id, reports=bench.reports)
    return BenchSheet(
        task=task,
        report_position=report_order.index(shown_cell.report) + 1,
        reports=bench.reports,
        exam_row_id=exam_row_id,
        exam=load_exam(db, exam_id=exam_row_id, with_report=True),
        outputs=tuple(
            BenchOutput(
                letter=letters[version],
                text=outputs.texts[shown_cell.report, version],
                scores={
                    score.cell.scale: score.score
                    for score in scores.values()
                    if score.score is not None
                    and (score.cell.report, score.cell.version) == (shown_cell.report, version)
                },
            )
            for version in versions
        ),
        cell=shown_cell,
        letter=letters[shown_cell.version],
        score=_find_score(scores, shown_cell),
        revision=latest.revision if latest else 0,
        previous=cells[index - 1] if index else None,
        next=cells[index + 1] if index + 1 < len(cells) else None,
        next_unscored=next((other for other in other_cells if _find_score(scores, other) is None), None),
    )


def score_output(
    db: Session,
    *,
    person: Person,
    bench_id: int,
    cell: BenchCell,
    revision: int,
    score: int | None,
    now: datetime,
) -> BenchScore:
    """Store a score, or undo the present one.

    Args:
        db: a session that can write.
        person: the expert.
        bench_id: the id of the bench.
        cell: what is scored.
        revision: 1 for the first score of the cell, otherwise the next number.
        score: 1 to 5; None to undo the present one.
        now: the current time.

    Returns:
        The stored score. A repeated request returns the score that is already stored.

    Raises:
        NotFound: the person does not score the bench, or the bench has no such output.
        InvalidValue: the score is not 1 to 5.
        StaleRevision: the cell was scored meanwhile in another tab.
    """
    require(person, Action.SCORE_OUTPUTS)
    bench = _find_own_bench(db, person, bench_id)
    if score is not None and score not in BENCH_SCORES:
        raise InvalidValue("score", f"must be {BENCH_SCORES[0]} to {BENCH_SCORES[-1]}, not {score}")
    if (cell.report, cell.version) not in _load_outputs(db, bench).texts:
        raise NotFound(f"{bench.name} has no such output. Reload the page to continue.")
    latest = _load_own_scores(db, bench, person).get(cell)
    if latest is not None and latest.revision == revision and latest.score == score:
        return latest
    message = "Not saved: this was scored meanwhile, in another tab. Check the score that is shown now."
    if revision != (latest.revision if latest else 0) + 1:
        raise StaleRevision(message)
    saved = BenchScore(cell=cell, person_id=person.id, revision=revision, score=score, scored_at=now)
    try:
        bench_storage.add_score(db, bench_id=bench.id, score=saved)
    except AlreadyThere as error:
        raise StaleRevision(message) from error
    record_action(
        db,
        by=person,
        action="score output",
        subject=f"prompt bench {bench.id}",
        new={
            "report": cell.report,
            "version": cell.version,
            "scale": cell.scale.value,
            "revision": revision,
            "score": score,
        },
        now=now,
    )
    return saved


def load_bench_report(db: Session, *, by: Person, name: str) -> BenchReport:
    """Compute the report of a bench from the scores so far.

    Raises:
        NotFound: there is no such bench.
        Refused: the person is an expert of the bench and has not given all scores.
    """
    require(by, Action.RUN_MODELS)
    bench = _load(db, name=name)
    outputs = _load_outputs(db, bench)
    _refuse_unfinished_expert(db, by, bench, outputs)
    experts = bench_storage.list_experts(db, bench_id=bench.id)
    names = {expert.person_id: expert.name for expert in experts}
    return build_report(
        versions=bench.versions,
        experts=experts,
        scores=[
            GivenScore(cell=score.cell, expert=names[score.person_id], score=score.score)
            for score in bench_storage.list_latest_scores(db, bench_id=bench.id)
            if score.score is not None
        ],
        unusable={version.label: outputs.failed.get(version.position, 0) for version in bench.versions},
    )


def list_bench_scores(db: Session, *, by: Person, name: str) -> list[ScoreRow]:
    """List all scores that count, by time, with their versions and the letters that the experts saw.

    Raises:
        NotFound: there is no such bench.
        Refused: the person is an expert of the bench and has not given all scores.
    """
    require(by, Action.RUN_MODELS)
    bench = _load(db, name=name)
    outputs = _load_outputs(db, bench)
    _refuse_unfinished_expert(db, by, bench, outputs)
    names = {expert.person_id: expert.name for expert in bench_storage.list_experts(db, bench_id=bench.id)}
    exams = bench_storage.list_report_exams(db, bench_id=bench.id)
    labels = {version.position: version.label for version in bench.versions}
    rows = []
    for score in bench_storage.list_latest_scores(db, bench_id=bench.id):
        if score.score is not None:
            order = _order_versions(bench, score.person_id, score.cell.report, outputs)
            rows.append(
                ScoreRow(
                    exam=exams[score.cell.report - 1][1],
                    version=labels[score.cell.version],
                    letter=LETTERS[order.index(score.cell.version)],
                    expert=names[score.person_id],
                    scale=score.cell.scale.value,
                    score=score.score,
                    scored_at=score.scored_at,
                )
            )
    return rows


def find_bench_image(
    db: Session, *, person: Person, exam_row_id: int, radiograph_key: str
) -> tuple[str, str]:
    """Return (SHA-256, media type) of a radiograph, for an expert who scores outputs about its exam.

    Raises:
        NotAllowed: the person scores no outputs about the exam.
        NotFound: the exam has no such radiograph, or its image was not imported.
    """
    require(person, Action.SCORE_OUTPUTS)
    if not bench_storage.scores_outputs_on_exam(db, person_id=person.id, exam_id=exam_row_id):
        raise NotAllowed(f"{person.display_name} scores no outputs about exam {exam_row_id}.")
    image = find_image(db, exam_row_id=exam_row_id, radiograph_key=radiograph_key)
    if image is None:
        raise NotFound(f"Exam {exam_row_id} has no image for radiograph {radiograph_key!r}.")
    return image


def _draw_exams(db: Session, dataset: str, *, count: int, seed: int) -> list[int]:
    exam_row_ids = list_exams_with_report(db, dataset_id=load_dataset(db, name=dataset).id)
    available = len(exam_row_ids)
    if not 1 <= count <= min(MAX_REPORTS, available):
        raise InvalidValue(
            "reports",
            f"must be 1 to {min(MAX_REPORTS, available):,}: dataset {dataset} has "
            f"{count_text(available, 'exam')} with a report, and a bench has at most {MAX_REPORTS}",
        )
    drawn = np.random.default_rng(seed).permutation(available)[:count]
    return [exam_row_ids[index] for index in drawn]


def _build_requests(
    db: Session, version: PromptVersion, exam_row_ids: Sequence[int], *, with_radiographs: bool
) -> list[ModelRequest]:
    prompt = parse_prompt(version.content)
    unknown = sorted(set(prompt.variables) - set(EXAM_VARIABLES))
    if unknown:
        raise InvalidValue(
            version.label,
            f"uses the variable {unknown[0]}, but exams only have {', '.join(EXAM_VARIABLES)}",
        )
    requests = []
    for position, exam_row_id in enumerate(exam_row_ids, start=1):
        exam = load_exam(db, exam_id=exam_row_id, with_report=True)
        exam_values = read_exam_variables(exam)
        images = [radiograph.sha256 for radiograph in exam.radiographs if radiograph.sha256 is not None]
        requests.append(
            prompt.build_request(
                custom_id=str(position),
                values={name: exam_values.get(name, "") for name in prompt.variables},
                images=images if with_radiographs else (),
            )
        )
    return requests


def _load(db: Session, *, bench_id: int | None = None, name: str | None = None) -> PromptBench:
    benches = bench_storage.list_benches(db, bench_id=bench_id, name=name)
    if not benches:
        raise NotFound(f"There is no prompt bench {bench_id if name is None else name!r}.")
    return benches[0]


def _find_own_bench(db: Session, person: Person, bench_id: int) -> PromptBench:
    benches = bench_storage.list_benches(db, bench_id=bench_id, person_id=person.id)
    if not benches:
        raise NotFound(f"{person.display_name} does not score prompt bench {bench_id}.")
    return benches[0]


def _load_outputs(db: Session, bench: PromptBench) -> _Outputs:
    texts: dict[tuple[int, int], str] = {}
    failed: dict[int, int] = {}
    waiting = 0
    for version in bench.versions:
        run = runs.find_run(db, name=version.run)
        if run is None:
            raise NotFound(f"The run {version.run} of prompt bench {bench.name} is missing.")
        for reply in ledger.iterate_replies(db, run_id=run.id):
            text = read_output(reply.raw, run.endpoint) if reply.raw is not None else None
            if text is not None:
                texts[int(reply.custom_id), version.position] = text
            elif reply.failure:
                failed[version.position] = failed.get(version.position, 0) + 1
            else:
                waiting += 1
    return _Outputs(texts=texts, waiting=waiting, failed=failed)


def _list_cells(bench: PromptBench, person_id: int, outputs: _Outputs) -> list[BenchCell]:
    return order_cells(
        seed=bench.seed,
        person_id=person_id,
        reports=bench.reports,
        versions=len(bench.versions),
        outputs=outputs.texts,
    )


def _order_versions(bench: PromptBench, person_id: int, report: int, outputs: _Outputs) -> list[int]:
    """Return the versions with a usable output for the report, in the expert's order."""
    order = order_outputs(seed=bench.seed, person_id=person_id, report=report, versions=len(bench.versions))
    return [version for version in order if (report, version) in outputs.texts]


def _load_own_scores(db: Session, bench: PromptBench, person: Person) -> dict[BenchCell, BenchScore]:
    scores = bench_storage.list_latest_scores(db, bench_id=bench.id, person_id=person.id)
    return {score.cell: score for score in scores}


def _find_score(scores: dict[BenchCell, BenchScore], cell: BenchCell) -> int | None:
    latest = scores.get(cell)
    return None if latest is None else latest.score


def _build_task(
    bench: PromptBench, cells: Sequence[BenchCell], scores: dict[BenchCell, BenchScore], waiting: int
) -> BenchTask:
    given = [scores[cell] for cell in cells if _find_score(scores, cell) is not None]
    last = max(reversed(given), key=lambda score: score.scored_at, default=None)
    return BenchTask(
        bench_id=bench.id,
        name=bench.name,
        total=len(cells),
        done=len(given),
        waiting=waiting,
        last=last.cell if last else None,
        last_revision=last.revision if last else 0,
    )


def _refuse_unfinished_expert(db: Session, by: Person, bench: PromptBench, outputs: _Outputs) -> None:
    if all(expert.person_id != by.id for expert in bench_storage.list_experts(db, bench_id=bench.id)):
        return
    scores = _load_own_scores(db, bench, by)
    cells = _list_cells(bench, by.id, outputs)
    if outputs.waiting or any(_find_score(scores, cell) is None for cell in cells):
        raise Refused(f"You score {bench.name} yourself, so its report opens when you have given all scores.")
