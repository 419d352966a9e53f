"""Rules for the files that draw: widget keys, unsafe HTML, downloads, and who may import Streamlit."""

import ast
from collections.abc import Iterator

from lints.source import Offence, Source

SCREENS = {"app.py", "pages", "ui"}
# Packages that operate the pages: also tests and benchmarks, and the screenshot script under docs/.
DRIVES_SCREENS = SCREENS | {"tests", "benchmarks", "docs"}
INPUTS = {
    "checkbox", "data_editor", "date_input", "feedback", "multiselect", "number_input", "pills", "radio",
    "segmented_control", "select_slider", "selectbox", "slider", "st_canvas", "text_area", "text_input",
    "time_input", "toggle",
}  # fmt: skip
STORAGE = {"storage", "sqlmodel", "sqlalchemy"}


def fixed_widget_key(source: Source) -> Iterator[Offence]:
    """Finds inputs with a constant key: they keep their last value for the next question."""
    if source.room not in SCREENS:
        return
    for call in _calls(source):
        if _called_name(call) not in INPUTS:
            continue
        key = next((word.value for word in call.keywords if word.arg == "key"), None)
        fixed = isinstance(key, ast.Constant) or (
            isinstance(key, ast.JoinedStr)
            and not any(isinstance(part, ast.FormattedValue) for part in key.values)
        )
        if key is not None and fixed and not source.allows("fixed-widget-key", call):
            yield _offence(
                source,
                call,
                "fixed-widget-key",
                'put the id of what is asked about into the key: key=f"stem-{question.id}", or say why not: '
                "# allow fixed-widget-key: reason",
            )


def unsafe_html(source: Source) -> Iterator[Offence]:
    """Finds HTML passed on unescaped: question texts may contain markup from outside."""
    for call in _calls(source):
        if any(word.arg == "unsafe_allow_html" for word in call.keywords):
            yield _offence(source, call, "unsafe-html", "show text as text; unsafe_allow_html is not for us")


def download_button(source: Source) -> Iterator[Offence]:
    """Finds Streamlit's download button: its media store needs no sign-in, and has served stale bytes."""
    for call in _calls(source):
        if _called_name(call) == "download_button":
            yield _offence(source, call, "download-button", "link to the app's own download route instead")


def streamlit_outside_screens(source: Source) -> Iterator[Offence]:
    if source.room in DRIVES_SCREENS:
        return
    for node, module in _imports(source):
        if source.room == "web" and isinstance(node, ast.ImportFrom):
            continue  # settings and messages of Streamlit; pyproject.toml lists who may import them
        if module.split(".")[0] in {"streamlit", "streamlit_drawable_canvas"}:
            yield _offence(
                source,
                node,
                "streamlit-outside-screens",
                "only app.py, pages and ui know Streamlit; give this its values as arguments",
            )


def page_opens_storage(source: Source) -> Iterator[Offence]:
    if source.room != "pages":
        return
    for node, module in _imports(source):
        if module.split(".")[0] in STORAGE:
            yield _offence(
                source, node, "page-opens-storage", "a page calls a service; the service opens storage"
            )


def _calls(source: Source) -> Iterator[ast.Call]:
    return (node for node in ast.walk(source.tree) if isinstance(node, ast.Call))


def _called_name(call: ast.Call) -> str:
    """The last name of the called expression: ``radio`` for ``st.sidebar.radio(…)``."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _imports(source: Source) -> Iterator[tuple[ast.stmt, str]]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node, node.module


def _offence(source: Source, node: ast.expr | ast.stmt, rule: str, text: str) -> Offence:
    return Offence(path=source.path, line=node.lineno, rule=rule, text=text)


RULES = (fixed_widget_key, unsafe_html, download_button, streamlit_outside_screens, page_opens_storage)
