"""A workspace with data of every kind, for backups."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sqlalchemy import Engine, update

from accounts import service as accounts
from storage.images.files import store_image
from storage.rows.datasets import ImageRow, RadiographRow
from storage.rows.releases import ReleaseRow
from storage.unit_of_work import unit_of_work
from storage.workspace import Workspace
from tests.storage.worlds import NOW, make_world

LATER = datetime(2026, 3, 9, 9, 0, tzinfo=UTC)
BY = accounts.command_line_person()


def make_png(seed: int) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 255, (40, 30), dtype=np.uint8)
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    return content.getvalue()


def make_workspace(engine: Engine, home: Path) -> Workspace:
    return Workspace(home=home, database_url=engine.url.render_as_string(hide_password=False))


def fill_workspace(engine: Engine, home: Path) -> Workspace:
    """Make a world, two image files, a list of refusals, and a release in the workspace."""
    world = make_world(engine, assigned_to=["ruth"])
    workspace = add_images(engine, home)
    with unit_of_work(engine) as db:
        db.add(
            ReleaseRow(
                dataset_id=world.dataset_id, name="v1", rule="a rule", items=1, manifest_sha256="0" * 64,
                folder=str(home / "releases" / "demo-v1"), made_at=NOW,
            )
        )  # fmt: skip
        accounts.start_sign_in(db, person=world.people["ruth"], token="a-token", previous_token=None, now=NOW)
    (home / "releases" / "demo-v1").mkdir(parents=True)
    (home / "releases" / "demo-v1" / "gold.jsonl").write_text("{}\n")
    return workspace


def add_images(engine: Engine, home: Path) -> Workspace:
    """Add two image files for all radiographs of a world, a list of refusals, and a cached image."""
    workspace = make_workspace(engine, home)
    hashes = [store_image(workspace, content=make_png(seed)) for seed in (1, 2)]
    image_columns: dict[str, Any] = {
        "media_type": "image/png",
        "rows": 40,
        "columns": 30,
        "bits": 8,
        "photometric": "MONOCHROME2",
    }
    with unit_of_work(engine) as db:
        db.add_all(ImageRow(sha256=sha256, bytes=100, **image_columns) for sha256 in hashes)
        db.flush()
        db.execute(update(RadiographRow).where(RadiographRow.key == "pa").values(image_sha256=hashes[0]))
        db.execute(update(RadiographRow).where(RadiographRow.key != "pa").values(image_sha256=hashes[1]))
        db.execute(ImageRow.__table__.delete().where(ImageRow.sha256.not_in(hashes)))
    (home / "refusals").mkdir()
    (home / "refusals" / "list.csv").write_text("record,field,reason\n")
    (home / "cache").mkdir()
    (home / "cache" / "picture.jpg").write_bytes(b"made again when asked for")
    return workspace
