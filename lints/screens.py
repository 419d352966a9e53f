"""Rules for screens: widget keys, unsafe HTML, downloads, and which packages may import Streamlit."""

import ast
from collections.abc import Iterator

from lints.source import SourceFile, Violation

SCREENS = {"app.py", "pages", "ui"}
# Packages that may import Streamlit: the screens, and packages that run them (docs/ has a screenshot script).
STREAMLIT_PACKAGES = SCREENS | {"tests", "benchmarks", "docs"}
INPUTS = {
    "checkbox", "data_editor", "date_input", "feedback", "multiselect", "number_input", "pills", "radio",
    "segmented_control", "select_slider", "selectbox", "slider", "st_canvas", "text_area", "text_input",
    "time_input", "toggle",
}  # fmt: skip
STORAGE = {"storage", "sqlmodel", "sqlalchemy"}


def find_fixed_widget_keys(source: SourceFile) -> Iterator[Violation]:
    """Finds inputs with a constant key: they keep their last value for the next question."""
    if source.package not in SCREENS:
        return
    for call in _find_calls(source):
        if _last_name(call) not in INPUTS:
            continue
        key = next((keyword.value for keyword in call.keywords if keyword.arg == "key"), None)
        is_fixed = isinstance(key, ast.Constant) or (
            isinstance(key, ast.JoinedStr)
            and not any(isinstance(part, ast.FormattedValue) for part in key.values)
        )
        if key is not None and is_fixed and not source.allows("fixed-widget-key", call):
            yield _make_violation(
                source,
                call,
                "fixed-widget-key",
                'include the id of the displayed object in the key: key=f"stem-{question.id}", or state why '
                "not: # allow fixed-widget-key: reason",
            )


def find_unsafe_html(source: SourceFile) -> Iterator[Violation]:
    """Finds HTML passed on unescaped: question texts may contain markup from outside."""
    for call in _find_calls(source):
        if any(keyword.arg == "unsafe_allow_html" for keyword in call.keywords):
            yield _make_violation(
                source, call, "unsafe-html", "show text as text; unsafe_allow_html is not permitted"
            )


def find_download_buttons(source: SourceFile) -> Iterator[Violation]:
    """Finds Streamlit's download button: its media store needs no sign-in, and has served stale bytes."""
    for call in _find_calls(source):
        if _last_name(call) == "download_button":
            yield _make_violation(
                source, call, "download-button", "link to the app's own download route instead"
            )


def find_streamlit_imports(source: SourceFile) -> Iterator[Violation]:
    if source.package in STREAMLIT_PACKAGES:
        return
    for node, module in _iterate_imports(source):
        if source.package == "web" and isinstance(node, ast.ImportFrom):
            continue  # the import contracts in pyproject.toml limit what web may import from Streamlit
        if module.split(".")[0] in {"streamlit", "streamlit_drawable_canvas"}:
            yield _make_violation(
                source,
                node,
                "streamlit-outside-screens",
                "this package may not import Streamlit; pass the values as arguments",
            )


def find_storage_imports_in_pages(source: SourceFile) -> Iterator[Violation]:
    if source.package != "pages":
        return
    for node, module in _iterate_imports(source):
        if module.split(".")[0] in STORAGE:
            yield _make_violation(
                source, node, "page-opens-storage", "a page calls a service; the service opens storage"
            )


def _find_calls(source: SourceFile) -> Iterator[ast.Call]:
    return (node for node in ast.walk(source.tree) if isinstance(node, ast.Call))


def _last_name(call: ast.Call) -> str:
    """Return the last name of the called expression: ``radio`` for ``st.sidebar.radio(…)``."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _iterate_imports(source: SourceFile) -> Iterator[tuple[ast.stmt, str]]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node, node.module


def _make_violation(source: SourceFile, node: ast.expr | ast.stmt, rule: str, text: str) -> Violation:
    return Violation(path=source.path, line=node.lineno, rule=rule, text=text)


RULES = (
    find_fixed_widget_keys,
    find_unsafe_html,
    find_download_buttons,
    find_streamlit_imports,
    find_storage_imports_in_pages,
)
