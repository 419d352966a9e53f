"""A bucket that accepts and never answers delays only requests for uncached radiographs, by raw HTTP."""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import cache

import httpx
import pytest
from sqlalchemy import update
from starlette.applications import Starlette
from starlette.middleware import Middleware

from accounts import service as accounts
from benchmarks.soak_poster import verdict_request
from storage.images.bucket import BucketStore
from storage.images.files import _bucket_store
from storage.rows import ImageRow, RadiographRow
from storage.unit_of_work import unit_of_work
from tests.storage.scripted_bucket import Behaviour, scripted_bucket
from tests.storage.worlds import make_world
from tests.unit.conftest import PLATE
from web import connected, health
from web.gate import Gate
from web.health import HEALTH_CACHE
from web.images import pixels, radiographs
from web.review import routes as judging
from web.sign_in import routes as sign_in
from web.thread_limits import PIXEL_FETCHES

pytestmark = pytest.mark.slow

EXAMS = 41
SHA256 = hashlib.sha256(PLATE).hexdigest()
ROUTES = [
    *radiographs.ROUTES, *pixels.ROUTES, *health.ROUTES, *sign_in.ROUTES, *judging.ROUTES, *connected.ROUTES,
]  # fmt: skip


@pytest.fixture
def bucket(monkeypatch, workspace_engine, reading_processes):
    """A workspace of 41 exams whose images are in a bucket instead of the folder."""
    with scripted_bucket() as server:
        for name, value in server.settings.items():
            monkeypatch.setenv(name, value)
        _bucket_store.cache_clear()
        HEALTH_CACHE.clear()
        server.put(SHA256, PLATE)
        yield server
        _bucket_store.cache_clear()
        HEALTH_CACHE.clear()


@pytest.fixture
def without_time_limit(monkeypatch):
    """Requests to the bucket never time out, so that a busy machine does not end them during a test."""
    monkeypatch.setattr("storage.images.bucket._READ_TIMEOUT", 600)
    store = cache(lambda address: BucketStore(address, timeout=600))
    monkeypatch.setattr("storage.images.files._bucket_store", store)


@pytest.fixture
def world(bucket, workspace_engine):
    """Ruth has questions on all exams; the PA image of the first one is in the bucket."""
    world = make_world(workspace_engine, questions=2 * EXAMS, assigned_to=("ruth",))
    with unit_of_work() as db:
        db.add(
            ImageRow(
                sha256=SHA256, media_type="application/dicom", bytes=len(PLATE), rows=300, columns=400,
                bits=12, photometric="MONOCHROME1",
            )
        )  # fmt: skip
        db.flush()
        first = (RadiographRow.exam_id == world.exams[0], RadiographRow.key == "pa")
        db.execute(update(RadiographRow).where(*first).values(image_sha256=SHA256))
    return world


@asynccontextmanager
async def browser(world, name=None):
    """A client of the app's routes behind the gate; many requests may run concurrently."""
    app = Starlette(routes=ROUTES, middleware=[Middleware(Gate)])
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        if name is not None:
            token = f"token-of-{name}"
            with unit_of_work() as db:
                accounts.start_sign_in(
                    db, person=world.people[name], token=token, previous_token=None, now=datetime.now(UTC)
                )
            client.cookies.set("overread", token)
        yield client


async def hanging(client, server, addresses):
    """Those requests, once the store has as many as it accepts at once."""
    server.behaviour = Behaviour.HANG
    tasks = [asyncio.create_task(client.get(address)) for address in addresses]
    await until(lambda: len(server.requests) >= min(len(set(addresses)), PIXEL_FETCHES.threads))
    return tasks


async def until(holds):
    while not holds():
        await asyncio.sleep(0.01)


def test_a_save_a_sign_in_and_the_connection_are_served_while_41_radiographs_wait(
    without_time_limit, world, bucket
):
    async def story():
        async with browser(world, "ruth") as ruth, browser(world) as stranger:
            waiting = await hanging(ruth, bucket, [f"/pixels/{exam}/pa" for exam in world.exams])
            person = {"X-Overread-Person": str(world.people["ruth"].id)}
            headers = {"X-Overread": "1", "Sec-Fetch-Site": "same-origin", **person}
            saved = await ruth.post(
                "/judging/verdict",
                json=verdict_request(world.questions[0], "saved meanwhile"),
                headers=headers,
            )
            page, there = await stranger.get("/sign-in"), await ruth.get("/connected")
            served_meanwhile = sum(task.done() for task in waiting) <= 1  # the queue is full
            bucket.behaviour = Behaviour.ANSWER
            await asyncio.gather(*waiting)
            return saved, page, there, served_meanwhile

    saved, page, there, served_meanwhile = asyncio.run(story())
    assert (saved.status_code, page.status_code, there.status_code) == (200, 200, 204)
    assert served_meanwhile


def test_41_requests_for_one_radiograph_are_one_download(world, bucket):
    async def story():
        async with browser(world, "ruth") as ruth:
            waiting = await hanging(ruth, bucket, ["/pixels/1/pa"] * 41)
            bucket.behaviour = Behaviour.ANSWER
            return await asyncio.gather(*waiting)

    assert {answer.status_code for answer in asyncio.run(story())} == {200}
    assert [method for method, _ in bucket.requests] == ["HEAD", "GET"]


def test_an_answer_that_the_store_prevents_says_so_and_when_to_come_again(world, bucket):
    async def story():
        async with browser(world, "ruth") as ruth:
            [waiting] = await hanging(ruth, bucket, ["/pixels/1/pa"])
            return await waiting

    answer = asyncio.run(story())
    assert (answer.status_code, answer.json()["kind"]) == (503, "NotNow")
    assert answer.headers["retry-after"] == "5"
    assert "did not answer within 8 s" in answer.json()["error"]


@pytest.mark.parametrize("address", ["/pixels/1/pa", "/radiographs/1/pa"])
def test_a_radiograph_in_the_cache_is_shown_while_others_wait_for_the_store(
    without_time_limit, world, bucket, address
):
    async def story():
        async with browser(world, "ruth") as ruth:
            assert (await ruth.get(address)).status_code == 200
            bucket.requests.clear()
            waiting = await hanging(ruth, bucket, [f"/pixels/{exam}/pa" for exam in world.exams[1:]])
            kept = await ruth.get(address)
            served_meanwhile = not any(task.done() for task in waiting)
            bucket.behaviour = Behaviour.ANSWER
            await asyncio.gather(*waiting)
            return kept, served_meanwhile

    kept, served_meanwhile = asyncio.run(story())
    assert (kept.status_code, served_meanwhile) == (200, True)


def test_requests_beyond_the_queue_are_refused_at_once(world, bucket):
    addresses = [f"/radiographs/{exam}/{key}" for exam in world.exams for key in ("pa", "lateral")]
    assert len(addresses) > PIXEL_FETCHES.threads + PIXEL_FETCHES.queue

    async def story():
        async with browser(world, "ruth") as ruth:
            waiting = await hanging(ruth, bucket, addresses)
            [first, *_], _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            bucket.behaviour = Behaviour.ANSWER
            await asyncio.gather(*waiting)
            return first.result()

    refused = asyncio.run(story())
    assert refused.status_code == 503
    assert "Too many radiographs are being loaded" in refused.json()["error"]


def test_readiness_answers_although_the_store_does_not_and_names_it(world, bucket):
    async def story():
        bucket.behaviour = Behaviour.HANG
        async with browser(world, "ada") as ada, browser(world) as stranger:
            asked = [client.get("/health/ready") for client in (ada, *[stranger] * 50)]
            alive = await stranger.get("/health")
            return alive, *(await asyncio.gather(*asked))

    alive, of_admin, *of_strangers = asyncio.run(story())
    assert alive.text == "ok"
    assert {answer.text for answer in of_strangers} == {"not ready"}
    checks = {check["name"]: check for check in of_admin.json()["checks"]}
    assert [name for name, check in checks.items() if not check["good"]] == ["images"]
    assert checks["images"]["said"] == "no answer within 3 seconds"
    assert len(bucket.requests) == 1  # fifty-one requests share one look-up
