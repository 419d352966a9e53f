"""Versions of prompts, and in-context examples that are written from a radiograph and report."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from sqlalchemy import select, text, update

from domain.errors import InvalidValue, NotFound, Refused
from domain.language_models import DataUse
from domain.patient_data import PixelDecision
from language_models import service as models
from language_models.prompts import Example, add_examples, compare_prompts, parse_prompt
from privacy import service as privacy
from storage.images.files import image_path
from storage.rows.datasets import ImageRow, RadiographRow
from storage.rows.language_models import ModelRequestRow
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import current_workspace
from tests.storage.model_server import running_model_server
from tests.storage.test_model_runs import BY, add_endpoint, work
from tests.storage.worlds import NOW, SECRETS, make_world

CONTENT = """name = "mcq"
user = "Report: ${report}"

[parameters]
max_tokens = 50

[schema]
type = "object"
additionalProperties = false
required = ["answer"]
properties.answer.type = "string"
"""
REPLY = '{"answer": "yes"}'


@pytest.fixture
def server():
    with running_model_server() as running:
        yield running


@pytest.fixture
def prompt_engine(engine):
    """The small world with the prompt mcq@1."""
    make_world(engine)
    with unit_of_work(engine) as db:
        models.save_prompt(db, by=BY, content=CONTENT, note="First version", now=NOW)
    return engine


def write_example(engine, reply=REPLY, **values) -> int:
    fields = {"dataset": "demo", "exam": "E1", "variables": {"report": SECRETS["report"]}}
    with unit_of_work(engine) as db:
        return models.save_example(db, by=BY, prompt="mcq", reply=reply, now=NOW, **fields | values)


def export(engine, *numbers, prompt="mcq", note="Add examples"):
    with unit_of_work(engine) as db:
        return models.export_examples(db, by=BY, prompt=prompt, examples=numbers, note=note, now=NOW)


def create_prompt_run(engine, endpoint, version, *, dataset=None, images=()):
    requests = [
        parse_prompt(version.content).build_request(
            custom_id="r1", values={"report": "Own text."}, images=images
        )
    ]
    with unit_of_work(engine) as db:
        models.create_run(
            db, by=BY, name="run", stage="test", endpoint=endpoint, dataset=dataset, requests=requests,
            prompt=version, now=NOW,
        )  # fmt: skip


def test_examples_become_part_of_the_next_version_and_the_old_version_stays(prompt_engine):
    numbers = [
        write_example(prompt_engine),
        write_example(prompt_engine, exam="E2", variables={"report": "Line 1.\nLine 2."}),
    ]
    second = export(prompt_engine, *numbers, note="Add two examples")
    assert (second.label, second.note) == ("mcq@2", "Add two examples")
    with read_only_session(prompt_engine) as db:
        assert models.load_prompt(db, by=BY, label="mcq@1").content == CONTENT
    assert [
        (example.variables["report"], example.reply, example.dataset)
        for example in parse_prompt(second.content).examples
    ] == [(SECRETS["report"], REPLY, "demo"), ("Line 1.\nLine 2.", REPLY, "demo")]
    difference = compare_prompts(CONTENT, second.content, old_name="mcq@1", new_name="mcq@2")
    assert "+Line 2." in difference
    assert not [line for line in difference.splitlines()[2:] if line.startswith("-")]
    with pytest.raises(Refused, match="mcq@2 has all these examples already"):
        export(prompt_engine, *numbers)
    write_example(prompt_engine, reply='{"answer": "no"}')
    with pytest.raises(Refused, match="has this example already"):
        write_example(prompt_engine)


def test_an_invalid_example_is_refused_with_the_reason(prompt_engine):
    with pytest.raises(InvalidValue, match="examples 1 reply: does not match the schema"):
        write_example(prompt_engine, reply='{"reply": "yes"}')
    with pytest.raises(InvalidValue, match="examples 1 variables: must have the variables of user: report"):
        write_example(prompt_engine, variables={})
    with pytest.raises(NotFound, match="no exam 'E99'"):
        write_example(prompt_engine, exam="E99")
    with pytest.raises(NotFound, match="no image for radiograph 'oblique'"):
        write_example(prompt_engine, radiographs=["oblique"])
    with pytest.raises(NotFound, match="no prompt 'other'"), unit_of_work(prompt_engine) as db:
        models.save_example(
            db, by=BY, prompt="other", dataset="demo", exam="E1", variables={}, reply="x", now=NOW
        )
    with read_only_session(prompt_engine) as db:
        assert models.list_examples(db, by=BY, prompt="mcq") == []


def test_a_removed_example_is_not_exported(prompt_engine):
    number = write_example(prompt_engine)
    with unit_of_work(prompt_engine) as db:
        models.remove_example(db, by=BY, example=number, now=NOW)
    for action in (
        lambda: export(prompt_engine, number),
        lambda: models.remove_example(db, by=BY, example=number, now=NOW),
    ):
        with pytest.raises(NotFound), unit_of_work(prompt_engine) as db:
            action()


def test_the_source_of_an_example_is_drawn_from_the_exams_with_a_report(prompt_engine):
    with unit_of_work(prompt_engine) as db:
        db.execute(text("UPDATE exam SET report = NULL WHERE key <> 'E3'"))
    with read_only_session(prompt_engine) as db:
        drawn = {
            models.draw_example_source(db, by=BY, dataset="demo", seed=seed).exam.id for seed in range(9)
        }
    assert drawn == {"E3"}
    with unit_of_work(prompt_engine) as db:
        db.execute(text("UPDATE exam SET report = ''"))
    with (
        pytest.raises(NotFound, match="No exam of dataset demo has a report"),
        unit_of_work(prompt_engine) as db,
    ):
        models.draw_example_source(db, by=BY, dataset="demo", seed=1)


@pytest.mark.slow
def test_a_prompt_with_text_of_a_dataset_is_sent_only_to_endpoints_permitted_for_it(prompt_engine, server):
    """The run has no dataset, so the report in its example was once sent to a remote endpoint."""
    version = export(prompt_engine, write_example(prompt_engine))
    endpoint = add_endpoint(prompt_engine, server.url)
    create_prompt_run(prompt_engine, endpoint, version)
    with unit_of_work(prompt_engine) as db:  # this server has no https, which a remote endpoint needs
        db.execute(text("UPDATE model_endpoint SET data_use = 'remote'"))
        endpoint = models.load_endpoint(db, by=BY, name="local")
    with pytest.raises(Refused, match="dataset demo permits local endpoints only"):
        work(prompt_engine)
    with pytest.raises(Refused, match="dataset demo permits local endpoints only"):
        create_prompt_run(prompt_engine, endpoint, version)
    with pytest.raises(Refused, match="dataset demo permits"), unit_of_work(prompt_engine) as db:
        models.resume_run(db, by=BY, name="run", now=NOW)
    assert server.connections == 0
    with unit_of_work(prompt_engine) as db:
        models.set_data_use(db, by=BY, dataset="demo", data_use=DataUse.REMOTE, now=NOW)
    assert work(prompt_engine).is_finished
    assert SECRETS["report"] in str(server.bodies[0]["messages"][0]["content"])


def test_an_example_of_an_unknown_dataset_permits_local_endpoints_only(prompt_engine, server):
    content = f'{CONTENT}\n[[examples]]\ndataset = "elsewhere"\nvariables.report = "x"\nreply = \'{REPLY}\'\n'
    with unit_of_work(prompt_engine) as db:
        version, _ = models.save_prompt(db, by=BY, content=content, note="x", now=NOW)
    endpoint = add_endpoint(prompt_engine, server.url)
    create_prompt_run(prompt_engine, endpoint, version)
    with unit_of_work(prompt_engine) as db:
        db.execute(text("UPDATE model_endpoint SET data_use = 'zero retention'"))
    with pytest.raises(Refused, match="dataset elsewhere permits local endpoints only"):
        work(prompt_engine)


def test_a_radiograph_with_patient_text_is_in_no_example(prompt_engine):
    with read_only_session(prompt_engine) as db:
        sha256 = db.execute(
            select(RadiographRow.image_sha256).where(RadiographRow.exam_id == 1, RadiographRow.key == "pa")
        ).scalar_one()
    with unit_of_work(prompt_engine) as db:
        privacy.decide_images(db, by=BY, decisions=[(sha256, PixelDecision.REMOVE)], now=NOW)
    with pytest.raises(Refused, match="was removed because of patient text"):
        write_example(prompt_engine, radiographs=["pa"])


@given(st.text(), st.text().filter(str.strip))
def test_any_text_of_an_example_is_read_back_unchanged_from_the_prompt_file(report, reply):
    example = Example(variables={"report": report}, reply=reply, dataset="demo", images=("0" * 64,))
    content = add_examples('name = "p"\nuser = "${report}"\n', [example, example])
    assert parse_prompt(content).examples == (example,)
    assert add_examples(content, [example]) == content
    assert tomllib.loads(content)["name"] == "p"


def add_images(engine) -> list[str]:
    """Store two real images as the radiographs of exams 1 and 2: dark to bright, and bright to dark."""
    hashes = []
    for exam, (first, last) in enumerate(((0, 255), (255, 0)), start=1):
        buffer = io.BytesIO()
        row = np.linspace(first, last, 1200).astype(np.uint8)
        Image.fromarray(np.tile(row, (1500, 1))).save(buffer, "PNG")
        content = buffer.getvalue()
        sha256 = hashlib.sha256(content).hexdigest()
        path = image_path(current_workspace(), sha256=sha256)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        with unit_of_work(engine) as db:
            db.add(
                ImageRow(
                    sha256=sha256, media_type="image/png", bytes=len(content), rows=1500, columns=1200,
                    bits=8, photometric="MONOCHROME2",
                )
            )  # fmt: skip
            db.flush()
            db.execute(
                update(RadiographRow)
                .where(RadiographRow.exam_id == exam, RadiographRow.key == "pa")
                .values(image_sha256=sha256)
            )
        hashes.append(sha256)
    return hashes


@pytest.mark.slow
def test_the_radiographs_of_a_request_and_its_example_are_sent_as_pictures(workspace_engine, server):
    make_world(workspace_engine)
    images = add_images(workspace_engine)
    with unit_of_work(workspace_engine) as db:
        models.save_prompt(db, by=BY, content=CONTENT, note="First version", now=NOW)
    version = export(workspace_engine, write_example(workspace_engine, radiographs=["pa"]))
    endpoint = add_endpoint(workspace_engine, server.url)
    with pytest.raises(Refused, match="does not accept images"):
        create_prompt_run(workspace_engine, endpoint, version, dataset="demo", images=images[1:])
    endpoint = add_endpoint(workspace_engine, server.url, accepts_images=True)
    create_prompt_run(workspace_engine, endpoint, version, dataset="demo", images=images[1:])
    assert work(workspace_engine).is_finished
    messages = server.bodies[0]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    example, own = (decode_picture(messages[index]) for index in (0, 2))
    # The longer side of 1,500 pixels is reduced to 1,024.
    assert example.size == own.size == (819, 1024)
    assert [picture.convert("L").getpixel((10, 500)) for picture in (example, own)] == pytest.approx(
        [3, 252], abs=6
    )
    with read_only_session(workspace_engine) as db:
        body = json.loads(db.execute(select(ModelRequestRow.body)).scalar_one())
    assert f"sha256:{images[1]}" in json.dumps(body)
    assert "base64" not in json.dumps(body)


def decode_picture(message) -> Image.Image:
    """The picture of a message, as a server decodes it."""
    text_part, image_part = message["content"]
    assert text_part["type"] == "text"
    kind, _, data = image_part["image_url"]["url"].partition(",")
    assert kind == "data:image/jpeg;base64"
    picture = Image.open(io.BytesIO(base64.b64decode(data, validate=True)))
    picture.load()
    return picture
