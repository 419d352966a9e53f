"""An image store that stops answering, under two app processes behind nginx: no save waits for it.

The setup is PostgreSQL, two app processes, nginx with the configuration of docs/deploy, and a scripted S3
server. Each reviewer saves up to two verdicts a second, somebody signs in every second, and uncached
radiographs are requested all the time: one of them by 41 requests at once, the others by 41 more. The store
goes through five phases: it answers, accepts and never answers, answers, sends a byte each half second, and
answers. Targets: the longest save while the store fails takes at most 1 second more than the longest while it
answers, and no acknowledged save is lost.

``python -m benchmarks.soak_store [--reviewers N] [--seconds N]`` prints the figures of each phase and exits 1
if a target is missed. A run takes five times ``--seconds`` (20) and the start.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import io
import os
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np
from PIL import Image
from sqlalchemy import select, update

from accounts.service import person_named
from benchmarks.soak_poster import verdict
from benchmarks.soak_readers import percentile
from benchmarks.soak_world import COORDINATOR, PASSWORD, Place, furnish, postgres_place, served
from storage.rows import AssignmentRow, ExamRow, ImageRow, RadiographRow, VerdictRow
from storage.unit_of_work import reading, unit_of_work
from tests.e2e.several_processes import HOST, nginx_before
from tests.storage.scripted_bucket import Behaviour, ScriptedBucket, scripted_bucket

MARK = 1.0  # seconds by which a save may take longer while the store fails
ANSWERS = "store answers"
_AT_ONCE = 41  # one more than the threads of Starlette's default limit
_TRY_AGAIN = 5.0  # seconds between two requests of one person; equals the answer's Retry-After
_BETWEEN_SAVES = 0.5
_PATIENCE = 60.0  # seconds: longer than any valid answer, so that a hang is recorded
_FORM_TOKEN = re.compile(r'name="form_token" value="([^"]+)"')


@dataclass(slots=True, kw_only=True)
class Phase:
    """Measurements while the store behaved in one way; seconds by kind of request."""

    name: str
    times: dict[str, list[float]] = field(default_factory=dict)
    pixels: Counter[int] = field(default_factory=Counter)
    readiness: Counter[int] = field(default_factory=Counter)
    troubles: Counter[str] = field(default_factory=Counter)

    async def timed(self, kind: str, request: Awaitable[httpx.Response]) -> httpx.Response | None:
        """Send, time and return the answer; a missing answer is recorded and returned as None."""
        began = time.perf_counter()
        try:
            return await request
        except httpx.HTTPError as error:
            self.troubles[f"{kind}: {type(error).__name__}"] += 1
            return None
        finally:
            self.times.setdefault(kind, []).append(time.perf_counter() - began)


@dataclass(slots=True, kw_only=True)
class Soak:
    """The state that all tasks share. A request belongs to the phase in which it was sent."""

    address: str
    processes: list[str]
    phase: Phase
    ended: bool = False
    acknowledged: dict[tuple[int, int], str] = field(default_factory=dict)

    def client(self) -> httpx.AsyncClient:
        """A client of its own: nginx assigns it a process by its cookie."""
        host = {"Host": f"{HOST}:{self.address.rpartition(':')[2]}", "Sec-Fetch-Site": "same-origin"}
        limits = httpx.Limits(max_connections=None)
        return httpx.AsyncClient(
            base_url=self.address,
            headers=host,
            verify=False,  # noqa: S501 - our own server, with a certificate made for this run
            timeout=_PATIENCE,
            limits=limits,
        )

    async def sign_in(self, client: httpx.AsyncClient, name: str) -> None:
        answer = await self.send_sign_in(client, await client.get("/sign-in"), name)
        if answer.status_code != 303:
            raise RuntimeError(f"{name} was not let in: {answer.status_code} {answer.text[:200]}")

    async def send_sign_in(
        self, client: httpx.AsyncClient, shown: httpx.Response, name: str
    ) -> httpx.Response:
        """Send the form of the page that was loaded."""
        token = _FORM_TOKEN.search(shown.text)
        fields = {"form_token": token[1] if token else "", "name": name, "password": PASSWORD}
        return await client.post("/sign-in", data=fields)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reviewers", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each phase")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, scripted_bucket() as store:
        os.environ.update(store.settings)  # the app's processes inherit it
        with postgres_place(Path(folder)) as place:
            names = furnish(place, reviewers=args.reviewers, questions_each=1_000, per_exam=100)
            exams = _give_each_exam_a_picture(place, store)
            ports_folder = Path(folder) / "nginx"
            with served(place, processes=2) as processes:
                ports = [int(address.rpartition(":")[2]) for address in processes]
                with nginx_before(ports, ports_folder) as address:
                    soak = Soak(
                        address=f"https://127.0.0.1:{address.rpartition(':')[2]}",
                        processes=processes,
                        phase=Phase(name="start"),
                    )
                    phases = asyncio.run(_soak(soak, place, store, names, exams, seconds=args.seconds))
            lost = _lost(place, soak.acknowledged)
            log = (ports_folder / "access.log").read_text()
            access = Counter(re.findall(r"^127\.0\.0\.1:(\d+) ", log, re.MULTILINE))
    _print(phases, soak, lost, access)
    delay = _longest_save(phases, answering=False) - _longest_save(phases, answering=True)
    print(f"a save takes at most {delay:.3f} s longer while the store fails; mark {MARK:g} s")
    return 0 if lost == 0 and delay <= MARK else 1


def _longest_save(phases: list[Phase], *, answering: bool) -> float:
    of_kind = [phase for phase in phases if (phase.name == ANSWERS) is answering]
    return max(took for phase in of_kind for took in phase.times.get("save", []))


async def _soak(
    soak: Soak, place: Place, store: ScriptedBucket, names: list[str], exams: list[int], *, seconds: float
) -> list[Phase]:
    people = []
    for name in names:  # one after the other: the cost of concurrent sign-ins is another soak's subject
        client = soak.client()
        await soak.sign_in(client, name)
        people.append((name, client))
    lookers = [soak.client() for _ in range(6)]
    for client in lookers:
        await soak.sign_in(client, COORDINATOR)
    one, *others = exams
    tasks = [asyncio.create_task(_review(soak, place, name, client)) for name, client in people]
    tasks += [asyncio.create_task(_sign_in_again_and_again(soak)), asyncio.create_task(_watch(soak))]
    tasks += [asyncio.create_task(_look(soak, lookers[at % len(lookers)], [one])) for at in range(_AT_ONCE)]
    tasks += [
        asyncio.create_task(_look(soak, lookers[at % len(lookers)], others[at:] + others[:at]))
        for at in range(_AT_ONCE)
    ]
    phases = []
    for name, behaviour in [
        (ANSWERS, Behaviour.ANSWER),
        ("store accepts and never answers", Behaviour.HANG),
        (ANSWERS, Behaviour.ANSWER),
        ("store sends a byte each 0.5 s", Behaviour.DRIP),
        (ANSWERS, Behaviour.ANSWER),
    ]:
        _forget_pictures(place)
        store.behaviour = behaviour
        soak.phase = Phase(name=name)
        phases.append(soak.phase)
        await asyncio.sleep(seconds)
    soak.ended = True
    await asyncio.gather(*tasks)
    return phases


async def _review(soak: Soak, place: Place, name: str, client: httpx.AsyncClient) -> None:
    with reading(place.engine) as db:
        person = person_named(db, name=name).id
        mine = select(AssignmentRow.question_id).where(AssignmentRow.person_id == person)
        questions = list(db.execute(mine.order_by(AssignmentRow.position)).scalars())
    headers = {"X-Overread": "1", "X-Overread-Person": str(person)}
    for question in questions:
        if soak.ended:
            return
        phase, comment = soak.phase, f"{person} on {question}"
        sent = client.post("/judging/verdict", json=verdict(question, comment), headers=headers)
        answer = await phase.timed("save", sent)
        if answer is not None and answer.status_code == 200:
            soak.acknowledged[person, question] = comment
        elif answer is not None:
            phase.troubles[f"save: {answer.status_code} {answer.text[:80]}"] += 1
        await asyncio.sleep(_BETWEEN_SAVES)


async def _sign_in_again_and_again(soak: Soak) -> None:
    while not soak.ended:
        phase = soak.phase
        async with soak.client() as client:
            shown = await phase.timed("sign-in page", client.get("/sign-in"))
            if shown is not None:
                await phase.timed("sign-in", soak.send_sign_in(client, shown, COORDINATOR))
        await asyncio.sleep(1)


async def _watch(soak: Soak) -> None:
    closing = httpx.Limits(max_keepalive_connections=0)  # the server closes idle connections after 5 s
    async with httpx.AsyncClient(timeout=_PATIENCE, limits=closing) as client:
        while not soak.ended:
            for address in soak.processes:
                phase = soak.phase
                await phase.timed("/health", client.get(f"{address}/health"))
                answer = await phase.timed("/health/ready", client.get(f"{address}/health/ready"))
                phase.readiness[answer.status_code if answer else 0] += 1
            await asyncio.sleep(0.5)


async def _look(soak: Soak, client: httpx.AsyncClient, exams: list[int]) -> None:
    """Request the radiographs of those exams in turn, as people do who click "try again"."""
    while not soak.ended:
        for exam in exams:
            if soak.ended:
                return  # type: ignore[unreachable]  # another task sets it meanwhile
            phase = soak.phase
            answer = await phase.timed("radiograph", client.get(f"/pixels/{exam}/pa"))
            phase.pixels[answer.status_code if answer else 0] += 1
            await asyncio.sleep(_TRY_AGAIN)


def _give_each_exam_a_picture(place: Place, store: ScriptedBucket) -> list[int]:
    """Store a different image for each exam in the bucket; return the exams' numbers."""
    with unit_of_work(place.engine) as db:
        exams = list(db.execute(select(ExamRow.id)).scalars())
        for exam in exams:
            drawn = io.BytesIO()
            grey = np.linspace(0, 200, 256, dtype=np.uint8)
            Image.fromarray(np.tile(grey, (256, 1)) + np.uint8(exam % 50)).save(
                drawn, "PNG", dpi=(exam, exam)
            )
            content = drawn.getvalue()
            sha256 = hashlib.sha256(content).hexdigest()
            store.put(sha256, content)
            db.add(
                ImageRow(
                    sha256=sha256, media_type="image/png", bytes=len(content), rows=256, columns=256, bits=8,
                    photometric="MONOCHROME2",
                )
            )  # fmt: skip
            db.flush()
            db.execute(update(RadiographRow).where(RadiographRow.exam_id == exam).values(image_sha256=sha256))
    return exams


def _forget_pictures(place: Place) -> None:
    """Empty the cache, so that every radiograph needs the store."""
    for path in (place.home / "cache").rglob("*"):
        if path.is_file():
            path.unlink(missing_ok=True)


def _lost(place: Place, acknowledged: dict[tuple[int, int], str]) -> int:
    with reading(place.engine) as db:
        rows = db.execute(select(VerdictRow.person_id, VerdictRow.question_id, VerdictRow.comment)).all()
    there = {(row.person_id, row.question_id): row.comment for row in rows}
    return sum(there.get(key) != comment for key, comment in acknowledged.items())


def _print(phases: list[Phase], soak: Soak, lost: int, access: Counter[str]) -> None:
    for phase in phases:
        print(f"\n{phase.name:34} {'n':>7} {'median':>8} {'p95':>8} {'longest':>8}   seconds")
        for kind, times in phase.times.items():
            middle, p95 = statistics.median(times), percentile(times, 95)
            print(f"  {kind:32} {len(times):7,} {middle:8.3f} {p95:8.3f} {max(times):8.3f}")
        print(
            f"  radiographs by status {dict(phase.pixels)} · /health/ready by status {dict(phase.readiness)}"
        )
        for trouble, count in phase.troubles.most_common(5):
            print(f"  {count} x {trouble}")
    print(
        f"\nacknowledged {len(soak.acknowledged):,} · lost {lost} · requests by process {dict(access)}"
        f" · load at the end {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )


if __name__ == "__main__":
    sys.exit(main())
