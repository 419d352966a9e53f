"""A workspace in the state that a test requests, and a browser in which a person is signed in."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import streamlit as st

from accounts import service as accounts
from storage.engine import current_engine, get_engine
from storage.unit_of_work import unit_of_work
from tests.pages.conftest import (  # fixtures, each imported under its own name
    Browser,
    main_module_as_it_was,
    nothing_behind_the_page,
    packages_scanned_once,
)
from tests.states.workspaces import State, Workspaces

__all__ = ["main_module_as_it_was", "nothing_behind_the_page", "packages_scanned_once"]


@pytest.fixture(scope="session")
def workspaces(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Workspaces:
    """All states that were requested so far."""
    return Workspaces(tmp_path_factory.mktemp("states"), sqlite_template)


@pytest.fixture
def workspace_in(
    workspaces: Workspaces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[State], Path]]:
    """``workspace_in(State(name="drawn"))``: point the environment to a copy of it; return the folder."""

    def enter_workspace(state: State) -> Path:
        home = tmp_path / "workspace"
        shutil.copytree(workspaces.folder_of(state), home)
        monkeypatch.setenv("OVERREAD_HOME", str(home))
        monkeypatch.delenv("OVERREAD_DATABASE_URL", raising=False)
        return home

    yield enter_workspace
    current_engine().dispose()
    get_engine.cache_clear()
    st.cache_data.clear()  # it would outlive the workspace


@pytest.fixture
def sign_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Browser]:
    """``sign_in("cora")``: Streamlit sees the browser of that person."""

    browsers: dict[str, Browser] = {}

    def start_sign_in(name: str) -> Browser:
        if name not in browsers:
            token = f"token-of-{name}"
            with unit_of_work() as db:
                person = accounts.load_person_by_name(db, name=name)
                accounts.start_sign_in(
                    db, person=person, token=token, previous_token=None, now=datetime.now(UTC)
                )
            browsers[name] = Browser(cookies={"overread": token})
        browser = browsers[name]
        monkeypatch.setattr("streamlit.runtime.context._get_client_context", lambda: browser)
        return browser

    return start_sign_in
