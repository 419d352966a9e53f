"""The outcome of an action is shown below the control that caused it, not above it, out of sight."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted([*ROOT.glob("pages/*.py"), *ROOT.glob("ui/**/*.py")])


def _list_notice_keys(function: ast.AST) -> set[str]:
    """The notice keys of the buttons of a function: ``kwargs={"notice_key": X}``, X as source."""
    return {
        ast.unparse(value)
        for node in ast.walk(function)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == "notice_key"
    }


def _find_early_notices(source: str) -> list[str]:
    """The notices that are shown before their button, or before a call of the function that shows it."""
    tree = ast.parse(source)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    keys_by_function = {name: _list_notice_keys(node) for name, node in functions.items()}
    early_notices = []
    for function in functions.values():
        notices = [
            (node.lineno, ast.unparse(node.args[0]))
            for node in ast.walk(function)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "show_notice" and node.args
        ]
        for line, notice_key in notices:
            later = [node for node in ast.walk(function) if getattr(node, "lineno", 0) > line]
            shown_later = {
                shown_key
                for node in later
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
                for shown_key in keys_by_function.get(node.func.id, set())
            }.union(*(_list_notice_keys(node) for node in later))
            if notice_key in shown_later:
                early_notices.append(f"{function.name}: {notice_key}")
    return early_notices


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_outcome_is_shown_above_its_control(module):
    assert _find_early_notices(module.read_text(encoding="utf-8")) == []


def test_an_outcome_above_its_control_is_reported():
    source = """
def show_page():
    show_notice("save")
    _show_form()

def _show_form():
    st.button("Save", on_click=run_action, kwargs={"notice_key": "save"})
"""
    assert _find_early_notices(source) == ["show_page: 'save'"]
