"""The forms' browser part: built from its sources, complete, and served under one hash."""

import hashlib
import json
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from web.forms.files import BUNDLES, MEDIA_TYPES, file_url, form_html, form_script, load_form_files
from web.forms.routes import ROUTES

FRONTEND = BUNDLES.parent
BUNDLE_FILES = sorted(path for path in BUNDLES.iterdir() if path.suffix in MEDIA_TYPES)
FORMS = ("review", "reading", "adjudication")


@pytest.fixture(scope="module")
def client():
    with TestClient(Starlette(routes=ROUTES)) as test_client:
        yield test_client


def compute_sources_digest() -> str:
    sources = (
        path.relative_to(FRONTEND).as_posix() for path in (FRONTEND / "src").rglob("*") if path.is_file()
    )
    digest = hashlib.sha256()
    for name in [*sorted(sources), "build.mjs", "package-lock.json", "../domain/shortcuts.json"]:
        digest.update((FRONTEND / name).read_bytes())
    return digest.hexdigest()


@pytest.mark.parametrize("path", BUNDLE_FILES, ids=lambda path: path.name)
def test_a_bundle_is_built_from_the_current_sources(path: Path):
    # build.mjs writes the hash of its input at the top of every bundle, so this test needs no Node
    [built_digest] = re.findall(r"^/\* Built from frontend/src/ \((\w+)\)", path.read_text(encoding="utf-8"))
    assert built_digest == compute_sources_digest(), "run `make frontend` and commit frontend/dist/"


def test_the_bundles_include_the_licences_of_their_packages():
    packages = json.loads((FRONTEND / "package.json").read_text(encoding="utf-8"))["dependencies"]
    licences = (BUNDLES / "LICENSES.txt").read_text(encoding="utf-8")
    for name, version in packages.items():
        assert f"{name.title()} {version}" in licences


def test_the_lock_file_names_no_registry():
    packages = json.loads((FRONTEND / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert [name for name, package in packages.items() if "resolved" in package] == []


@pytest.mark.parametrize("name", sorted(load_form_files()))
def test_a_file_is_served_under_its_hash_as_immutable(client, name):
    response = client.get(file_url(name))
    assert response.content == load_form_files()[name]
    assert "immutable" in response.headers["cache-control"]
    assert client.get(f"/frontend/0123/{name}").status_code == 404


@pytest.mark.parametrize("name", ["LICENSES.txt", "form_files.py", "nothing.js"])
def test_files_that_are_no_part_of_a_form_are_not_served(client, name):
    assert client.get(file_url(name)).status_code == 404


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_loaded_with_its_styles(form):
    assert file_url(f"{form}.js") in form_script(form)
    assert file_url(f"{form}.css") in form_html(form)
    assert {f"{form}.js", f"{form}.css"} <= load_form_files().keys()


@pytest.mark.parametrize(
    "name", [name for name in load_form_files() if name.endswith(".js") and name != "canvas.js"]
)
def test_every_file_that_a_bundle_imports_is_served(name):
    imported = re.findall(r'(?:from|import)\s*\(?\s*"\./([^"]+)"', load_form_files()[name].decode())
    assert set(imported) <= load_form_files().keys()
