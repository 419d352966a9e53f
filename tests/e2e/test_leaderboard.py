"""A leaderboard in the browser, and what a submitter receives: no key and no result of a single question.

Canaries are texts in the private keys, the sequence of the keys, and the outcomes of each submission. They
are searched for in websocket frames, HTTP bodies and headers, the page, the static site and the app's log.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from domain.people import Role
from domain.questions import option_letter
from leaderboard.outcomes import encode_outcomes
from tests.declared_routes import CLOSED_ROUTES
from tests.e2e.conftest import RunningApp
from tests.e2e.streamlit_pages import wait_for_script
from tests.e2e.test_leaks import TrafficRecorder, encode_word, iterate_decompressed, read_log
from tests.storage.leaderboard_worlds import (
    BOARD,
    LeaderboardWorld,
    add_board,
    add_team,
    answer_with_errors,
    make_leaderboard_world,
    submit,
    write_predictions,
)
from tests.storage.worlds import SECRETS

pytestmark = [pytest.mark.browser, pytest.mark.full]
#: The id in a line that makes the file of keys invalid.
DAMAGE = "CanaryInDamagedKeys"


def is_wrong(position: int) -> bool:
    """Whether the first submission answers this question wrong; the pattern is irregular."""
    return position * position % 7 in (1, 3)


@pytest.fixture(scope="module")
def world(app: RunningApp) -> LeaderboardWorld:
    """Sue is in team A; team B has a submission, in which only the first ten answers are correct."""
    leaderboard_world = make_leaderboard_world(app.engine, app.home, questions=64)
    add_board(app.engine, uses_ladder=True)
    sue = app.add_person("sue", Role.SUBMITTER)
    add_team(app.engine, "Team A", sue.name)
    add_team(app.engine, "Team B")
    path = app.home.parent / f"{app.home.name}-b.jsonl"
    write_predictions(path, answer_with_errors(leaderboard_world, lambda position: position >= 10))
    submit(app.engine, path, team="Team B", method="A small model")
    return leaderboard_world


def list_canaries(world: LeaderboardWorld, *wrong: np.ndarray) -> list[str]:
    """Texts of the keys, the sequence of the keys in several spellings, and outcomes in several spellings."""
    letters = [option_letter(world.keys[key]) for key in sorted(world.keys)]
    sequences = ["".join(letters), ",".join(letters), ", ".join(letters), json.dumps(letters)]
    for errors in wrong:
        correct = ~errors
        sequences += [
            encode_outcomes(correct),
            base64.b64encode(np.packbits(correct).tobytes()).decode(),
            "".join(str(int(value)) for value in correct),
            ",".join(str(int(value)) for value in correct),
            json.dumps([bool(value) for value in correct]),
            json.dumps([bool(value) for value in correct], separators=(",", ":")),
        ]
    return [*SECRETS.values(), DAMAGE, *sequences]


def find_canaries(chunks: Iterable[bytes], canaries: Iterable[str]) -> set[str]:
    """The canaries in these bytes, compressed or not, in several encodings."""
    everything = b"\n".join(part for chunk in chunks for part in iterate_decompressed(chunk)).lower()
    return {word for word in canaries if any(code.lower() in everything for code in encode_word(word))}


def upload(page: Page, path: Path, method: str) -> None:
    """Fill in the form and submit."""
    wait_for_script(page)
    form = page.locator("details").filter(has_text="Submit predictions")
    form.wait_for()
    if form.get_attribute("open") is None:
        form.locator("summary").click()
    page.locator('input[type="file"]').set_input_files(path)
    page.get_by_text(path.name).first.wait_for(state="attached")
    page.get_by_label("Method").fill(method)
    page.get_by_text("own computers", exact=True).click()
    wait_for_script(page)
    page.get_by_role("button", name="Submit", exact=True).click()


def test_a_submitter_submits_and_receives_no_key_and_no_result_of_a_question(app, world, signed_in, tmp_path):
    page = signed_in("sue")
    traffic = TrafficRecorder(page)
    page.goto("/leaderboards")
    page.get_by_role("heading", name="Your team").wait_for(timeout=30_000)
    expect(page.get_by_text("5 submissions possible now")).to_be_visible()

    answers = answer_with_errors(world, is_wrong)
    invalid_file = write_predictions(tmp_path / "bad.jsonl", answers)
    invalid_file.write_text(invalid_file.read_text().replace('"answer": "A"', '"answer": "K"', 1))
    upload(page, invalid_file, "First model")
    expect(page.get_by_text("nothing was charged")).to_be_visible(timeout=20_000)
    expect(page.get_by_text("5 submissions possible now")).to_be_visible()

    page.reload()
    page.get_by_role("heading", name="Your team").wait_for(timeout=30_000)
    upload(page, write_predictions(tmp_path / "good.jsonl", answers), "First model")
    expect(page.get_by_text("4 submissions possible now").first).to_be_visible(timeout=20_000)
    # one correct answer fewer: the Ladder leaves the score unchanged
    page.reload()
    page.get_by_role("heading", name="Your team").wait_for(timeout=30_000)
    second_errors = np.array([is_wrong(position) or position == 0 for position in range(len(world.keys))])
    path = write_predictions(tmp_path / "worse.jsonl", answer_with_errors(world, lambda p: second_errors[p]))
    upload(page, path, "Second model")
    expect(page.get_by_text("score unchanged").first).to_be_visible(timeout=20_000)
    for label in ("Receipt", "Significance map"):
        page.get_by_text(label, exact=True).click()
        wait_for_script(page)
    expect(page.get_by_text("receipt_sha256")).to_be_visible()

    keys_file = world.release.with_name("v1-keys") / "keys.jsonl"
    content = keys_file.read_text()
    keys_file.write_text(f'{{"id": "{DAMAGE}"}}\n' + content)
    page.reload()
    page.get_by_role("heading", name="Your team").wait_for(timeout=30_000)
    upload(page, write_predictions(tmp_path / "more.jsonl", answers, explanation="x"), "Third model")
    expect(page.get_by_text("cannot score at the moment")).to_be_visible(timeout=20_000)
    keys_file.write_text(content)

    bodies = [request_route(page, route) for route in CLOSED_ROUTES if route.startswith("GET ")]
    first_errors = np.array([is_wrong(position) for position in range(len(world.keys))])
    team_b_errors = np.arange(len(world.keys)) >= 10
    canaries = list_canaries(world, first_errors, second_errors, team_b_errors)
    traffic.look()
    site = tmp_path / "site"
    app.command("leaderboard", "site", "--out", str(site))
    exports = [path.read_bytes() for path in site.iterdir()]
    assert len(traffic.seen) > 50
    assert find_canaries([keys_file.read_bytes()], canaries) >= {SECRETS["explanation"], SECRETS["category"]}
    assert find_canaries([*traffic.seen, *bodies, *exports, read_log(app)], canaries) == set()


def request_route(page: Page, route: str) -> bytes:
    """The response of a route to the submitter, who may read none of the app's files."""
    path = route.removeprefix("GET ")
    for name, value in {
        "{release_id:int}": "1", "{name:path}": "gold.jsonl", "{name}": "questions.jsonl",
        "{exam_number:int}": "1", "{radiograph_key:path}": "pa", "{anything:path}": "pa",
        "{file_format}": "csv", "{kind}": "csv", "{digest}": "0" * 64,
    }.items():  # fmt: skip
        path = path.replace(name, value)
    response = page.context.request.get(path, max_redirects=0)
    if path.startswith("/files/") and path not in {"/files/keys.json"}:
        assert response.status in (403, 404), path
    return response.body() + json.dumps(response.headers).encode()


def test_the_static_site_opens_from_a_disk_without_a_server(app, world, chromium, tmp_path):
    site = tmp_path / "site"
    app.command("leaderboard", "site", "--out", str(site))
    context = chromium.new_context(viewport={"width": 1024, "height": 800}, offline=True)
    page = context.new_page()
    requests: list[str] = []
    problems: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: problems.append(message.text))
    page.goto((site / "index.html").as_uri())
    page.get_by_role("link", name=BOARD).click()
    expect(page.get_by_role("heading", name=BOARD)).to_be_visible()
    expect(page.get_by_role("cell", name="Team B").first).to_be_visible()
    expect(page.get_by_role("cell", name="Chance")).to_be_visible()
    page.get_by_role("link", name="All figures as JSON").click()
    board_json = json.loads((site / "open-board-1.json").read_text())
    assert "Team B" in [team["team"] for team in board_json["teams"]]
    assert all(url.startswith("file://") for url in requests)
    assert problems == []
    context.close()
