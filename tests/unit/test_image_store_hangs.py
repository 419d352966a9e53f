"""If a bucket accepts connections and never answers, only requests for uncached radiographs wait."""

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
from storage.rows.datasets import ImageRow, RadiographRow
from storage.unit_of_work import unit_of_work
from tests.storage.scripted_bucket import Behaviour, scripted_bucket
from tests.storage.worlds import make_world
from tests.unit.conftest import PLATE_DICOM
from web import connected, health
from web.gate import Gate
from web.health import HEALTH_CACHE
from web.images import pixels, radiographs
from web.review import routes as judging
from web.sign_in import routes as sign_in
from web.thread_limits import PIXEL_FETCHES

pytestmark = [pytest.mark.slow, pytest.mark.full]

EXAM_COUNT = 41
SHA256 = hashlib.sha256(PLATE_DICOM).hexdigest()
ROUTES = [
    *radiographs.ROUTES, *pixels.ROUTES, *health.ROUTES, *sign_in.ROUTES, *judging.ROUTES, *connected.ROUTES,
]  # fmt: skip


@pytest.fixture
def bucket(monkeypatch, workspace_engine, decoder_processes):
    """A scripted bucket that replaces the folder of images."""
    with scripted_bucket() as server:
        for name, value in server.settings.items():
            monkeypatch.setenv(name, value)
        _bucket_store.cache_clear()
        HEALTH_CACHE.clear()
        server.put(SHA256, PLATE_DICOM)
        yield server
        _bucket_store.cache_clear()
        HEALTH_CACHE.clear()


@pytest.fixture
def without_time_limit(monkeypatch):
    """Requests to the bucket never time out: a busy machine does not end them during a test."""
    monkeypatch.setattr("storage.images.bucket._READ_TIMEOUT", 600)
    store = cache(lambda address: BucketStore(address, timeout=600))
    monkeypatch.setattr("storage.images.files._bucket_store", store)


@pytest.fixture
def world(bucket, workspace_engine):
    """Ruth has questions on all exams; the PA image of the first exam is in the bucket."""
    world = make_world(workspace_engine, questions=2 * EXAM_COUNT, assigned_to=("ruth",))
    with unit_of_work() as db:
        db.add(
            ImageRow(
                sha256=SHA256, media_type="application/dicom", bytes=len(PLATE_DICOM), rows=300, columns=400,
                bits=12, photometric="MONOCHROME1",
            )
        )  # fmt: skip
        db.flush()
        first_radiograph = (RadiographRow.exam_id == world.exams[0], RadiographRow.key == "pa")
        db.execute(update(RadiographRow).where(*first_radiograph).values(image_sha256=SHA256))
    return world


@asynccontextmanager
async def open_browser(world, name=None):
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


async def start_hanging_requests(client, server, addresses):
    """Start requests, and wait until the bucket has as many as the app sends at the same time."""
    server.behaviour = Behaviour.HANG
    tasks = [asyncio.create_task(client.get(address)) for address in addresses]
    await wait_until(lambda: len(server.requests) >= min(len(set(addresses)), PIXEL_FETCHES.threads))
    return tasks


async def wait_until(condition):
    while not condition():
        await asyncio.sleep(0.01)


def test_other_requests_are_served_while_41_radiographs_wait(without_time_limit, world, bucket):
    async def scenario():
        async with open_browser(world, "ruth") as ruth, open_browser(world) as stranger:
            pending = await start_hanging_requests(
                ruth, bucket, [f"/pixels/{exam}/pa" for exam in world.exams]
            )
            person_header = {"X-Overread-Person": str(world.people["ruth"].id)}
            headers = {"X-Overread": "1", "Sec-Fetch-Site": "same-origin", **person_header}
            save_response = await ruth.post(
                "/review/verdict",
                json=verdict_request(world.questions[0], "saved meanwhile"),
                headers=headers,
            )
            sign_in_page, connected = await stranger.get("/sign-in"), await ruth.get("/connected")
            are_pending = sum(task.done() for task in pending) <= 1  # the queue is full: one is refused
            bucket.behaviour = Behaviour.ANSWER
            await asyncio.gather(*pending)
            return save_response, sign_in_page, connected, are_pending

    save_response, sign_in_page, connected, are_pending = asyncio.run(scenario())
    assert (save_response.status_code, sign_in_page.status_code, connected.status_code) == (200, 200, 204)
    assert are_pending


def test_41_requests_for_one_radiograph_cause_one_download(world, bucket):
    async def scenario():
        async with open_browser(world, "ruth") as ruth:
            pending = await start_hanging_requests(ruth, bucket, ["/pixels/1/pa"] * 41)
            bucket.behaviour = Behaviour.ANSWER
            return await asyncio.gather(*pending)

    assert {response.status_code for response in asyncio.run(scenario())} == {200}
    assert [method for method, _ in bucket.requests] == ["HEAD", "GET"]


def test_a_store_timeout_gives_503_with_retry_after(world, bucket):
    async def scenario():
        async with open_browser(world, "ruth") as ruth:
            [pending] = await start_hanging_requests(ruth, bucket, ["/pixels/1/pa"])
            return await pending

    response = asyncio.run(scenario())
    assert (response.status_code, response.json()["kind"]) == (503, "NotNow")
    assert response.headers["retry-after"] == "5"
    assert "did not answer within 8 s" in response.json()["error"]


@pytest.mark.parametrize("address", ["/pixels/1/pa", "/radiographs/1/pa"])
def test_a_cached_radiograph_is_served_while_others_wait(without_time_limit, world, bucket, address):
    async def scenario():
        async with open_browser(world, "ruth") as ruth:
            assert (await ruth.get(address)).status_code == 200
            bucket.requests.clear()
            pending = await start_hanging_requests(
                ruth, bucket, [f"/pixels/{exam}/pa" for exam in world.exams[1:]]
            )
            cached = await ruth.get(address)
            are_pending = not any(task.done() for task in pending)
            bucket.behaviour = Behaviour.ANSWER
            await asyncio.gather(*pending)
            return cached, are_pending

    cached, are_pending = asyncio.run(scenario())
    assert (cached.status_code, are_pending) == (200, True)


def test_requests_beyond_the_queue_are_refused_at_once(world, bucket):
    addresses = [f"/radiographs/{exam}/{key}" for exam in world.exams for key in ("pa", "lateral")]
    assert len(addresses) > PIXEL_FETCHES.threads + PIXEL_FETCHES.queue

    async def scenario():
        async with open_browser(world, "ruth") as ruth:
            pending = await start_hanging_requests(ruth, bucket, addresses)
            [first_finished, *_], _ = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            bucket.behaviour = Behaviour.ANSWER
            await asyncio.gather(*pending)
            return first_finished.result()

    response = asyncio.run(scenario())
    assert response.status_code == 503
    assert "Too many radiographs are being loaded" in response.json()["error"]


def test_readiness_reports_an_unresponsive_image_store(world, bucket):
    async def scenario():
        bucket.behaviour = Behaviour.HANG
        async with open_browser(world, "ada") as ada, open_browser(world) as stranger:
            ready_requests = [client.get("/health/ready") for client in (ada, *[stranger] * 50)]
            liveness = await stranger.get("/health")
            return liveness, *(await asyncio.gather(*ready_requests))

    liveness, admin_response, *stranger_responses = asyncio.run(scenario())
    assert liveness.text == "ok"
    assert {response.text for response in stranger_responses} == {"not ready"}
    checks = {check["name"]: check for check in admin_response.json()["checks"]}
    assert [name for name, check in checks.items() if not check["passed"]] == ["images"]
    assert checks["images"]["detail"] == "no answer within 3 seconds"
    assert len(bucket.requests) == 1  # fifty-one requests share one look-up
