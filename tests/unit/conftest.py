"""The radiograph routes behind the gate, by raw HTTP, on a workspace with an exam."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx
import pytest
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.middleware import Middleware

from accounts import service as accounts
from storage.images.files import image_path
from storage.unit_of_work import unit_of_work
from storage.workspace import current_workspace
from tests.storage.worlds import World, make_world
from tests.unit.makers.dicom_files import dicom, ramp
from web import health
from web.gate import Gate
from web.images import pixels, radiographs

ROUTES = [*radiographs.ROUTES, *pixels.ROUTES, *health.ROUTES]
PLATE_DICOM = dicom(ramp(300, 400), PhotometricInterpretation="MONOCHROME1")
PLATE_SHA256 = f"{1:062d}{0:02d}"  # as in make_world


@dataclass
class RawBrowser:
    """Requests to the routes behind the gate, with the cookies that are set here."""

    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, address: str, headers: Mapping[str, str] | None = None) -> httpx.Response:
        app = Starlette(routes=ROUTES, middleware=[Middleware(Gate)])

        async def send_request() -> httpx.Response:
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                client.cookies.update(self.cookies)
                return await client.get(address, headers=dict(headers or {}))

        return asyncio.run(send_request())


@pytest.fixture(scope="module")
def decoder_processes() -> Iterator[None]:
    yield
    radiographs.shared_decoder().close()
    radiographs.shared_decoder.cache_clear()


@pytest.fixture
def world(workspace_engine: Engine, decoder_processes: None) -> World:
    """Ruth has questions, remo has none. The first exam's PA image exists, the other files are missing."""
    world = make_world(workspace_engine, assigned_to=("ruth",))
    path = image_path(current_workspace(), sha256=PLATE_SHA256)
    path.parent.mkdir(parents=True)
    path.write_bytes(PLATE_DICOM)
    return world


@pytest.fixture
def browser_of(world: World):
    """``browser_of("ruth")``: a browser with her cookie; ``browser_of(None)``: one without a cookie."""

    def open_browser(name: str | None) -> RawBrowser:
        browser = RawBrowser()
        if name is not None:
            with unit_of_work() as db:
                accounts.start_sign_in(
                    db,
                    person=world.people[name],
                    token=f"token-of-{name}",
                    previous_token=None,
                    now=datetime.now(UTC),
                )
            browser.cookies["overread"] = f"token-of-{name}"
        return browser

    return open_browser
