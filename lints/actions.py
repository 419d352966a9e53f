"""Rules for writes of pages: only an action passed to ``run_action`` writes, never the script of the page.

A click interrupts the running script of a page, including any write that the script has started. A callback
is not interrupted. ``run_action`` (ui/widgets.py) reports the action's outcome, and offers to repeat a failed
save.
The rules see one file at a time: a function writes if it opens a unit of work, or calls a function of its
file that does.
"""

import ast
from collections.abc import Iterator

from lints.source import SourceFile, Violation

_SCREENS = ("pages/", "ui/")
_LONG_WORK = "make long work a job (ui/background_jobs)"
_UNIT_OF_WORK = "unit_of_work"
_RUN_ACTION = "run_action"
#: The button of ui/background_jobs/live_progress.py, which passes its action to ``run_action``.
_ACTION_BUTTON = "show_action_button"
_CALLBACKS = {"on_click", "on_change", "on_submit", "on_select"}
_DRAWING_DECORATORS = {"fragment", "dialog", "page_fragment"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def find_writes_while_drawing(source: SourceFile) -> Iterator[Violation]:
    """Finds writes during the script run, which the next click would interrupt."""
    if not _is_ui_file(source):
        return
    functions = _map_functions_by_name(source)
    writers = _find_writers(functions)
    for name in sorted(writers):
        function = functions[name]
        is_shown = any(_last_name(decorator) in _DRAWING_DECORATORS for decorator in function.decorator_list)
        if is_shown and not source.allows("write-while-drawing", function):
            yield _make_violation(
                source, function, "write-while-drawing", f"{name} draws and writes; {_WRITE_ADVICE}"
            )
    for node in _iterate_module_level_nodes(source.tree):
        if isinstance(node, ast.Call) and _last_name(node) in {*writers, _UNIT_OF_WORK}:
            yield _make_violation(
                source, node, "write-while-drawing", f"this writes as the page is drawn; {_WRITE_ADVICE}"
            )


def find_writes_outside_action(source: SourceFile) -> Iterator[Violation]:
    """Finds functions that write and are not passed to ``run_action``: a failure would not be reported."""
    if not _is_ui_file(source):
        return
    functions = _map_functions_by_name(source)
    writers = _find_writers(functions)
    action_callers = {name for name, function in functions.items() if _runs_action(function)}
    action_callers.add(_ACTION_BUTTON)
    allowed_ids = {
        id(name)
        for call in ast.walk(source.tree)
        if isinstance(call, ast.Call)
        for name in (
            *_iterate_action_arguments(call),
            *_iterate_caller_arguments(call, action_callers),
            call.func,
        )
    }
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Name) or node.id not in writers or id(node) in allowed_ids:
            continue
        if not source.allows("write-outside-action", node):
            text = f"pass {node.id} to run_action: on_click=run_action, args=({node.id}, …)"
            yield _make_violation(source, node, "write-outside-action", text)


def find_drawing_while_writing(source: SourceFile) -> Iterator[Violation]:
    """Finds functions that write and draw: Streamlit may interrupt the write at each drawing call."""
    if not _is_ui_file(source):
        return
    for name, function in _map_functions_by_name(source).items():
        calls = list(_find_calls(function))
        if not any(_last_name(inner_call) == _UNIT_OF_WORK for inner_call in calls):
            continue
        for call in calls:
            is_drawing_call = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "st"
            if is_drawing_call and not source.allows("draws-while-writing", call):
                text = f"{name} writes: no st.{_last_name(call)} in it; {_LONG_WORK}"
                yield _make_violation(source, call, "draws-while-writing", text)


def find_submits_without_action(source: SourceFile) -> Iterator[Violation]:
    """Finds submit buttons of forms without ``run_action``: a form exists to save something."""
    if not _is_ui_file(source):
        return
    for call in ast.walk(source.tree):
        if not isinstance(call, ast.Call) or _last_name(call) != "form_submit_button":
            continue
        if not _has_action_callback(call) and not source.allows("submit-without-action", call):
            text = "on_click=run_action, args=(save, …); or: # allow submit-without-action: reason"
            yield _make_violation(source, call, "submit-without-action", text)


def find_plain_fragments(source: SourceFile) -> Iterator[Violation]:
    """Finds plain fragments: they fail without a message if the database is unavailable."""
    if not _is_ui_file(source) or source.path == "ui/widgets.py":
        return
    for name, function in _map_functions_by_name(source).items():
        for decorator in function.decorator_list:
            is_plain_fragment = (
                isinstance(decorator, ast.Attribute | ast.Name) and _last_name(decorator) == "fragment"
            )
            if is_plain_fragment and not source.allows("plain-fragment", decorator):
                yield _make_violation(
                    source, decorator, "plain-fragment", f"{name}: @page_fragment of ui/widgets.py instead"
                )


def find_threads(source: SourceFile) -> Iterator[Violation]:
    """Finds threads started by a page: they end with the process, unnoticed. A background job does not."""
    if not source.path.startswith(_SCREENS):
        return
    for call in _find_calls(source.tree):
        if _last_name(call) == "Thread" and not source.allows("thread-of-its-own", call):
            yield _make_violation(source, call, "thread-of-its-own", _LONG_WORK)


_WRITE_ADVICE = "move the write to a separate function and pass it: on_click=run_action, args=(save, …)"


def _is_ui_file(source: SourceFile) -> bool:
    return source.path.startswith(_SCREENS)


def _map_functions_by_name(source: SourceFile) -> dict[str, Function]:
    return {node.name: node for node in ast.walk(source.tree) if isinstance(node, Function)}


def _find_writers(functions: dict[str, Function]) -> set[str]:
    """Return the functions that open a unit of work, and those that call them directly or indirectly."""
    calls = {
        name: {_last_name(node) for node in _find_calls(function)} for name, function in functions.items()
    }
    writers = {name for name, called_names in calls.items() if _UNIT_OF_WORK in called_names}
    while new_writers := {name for name, called_names in calls.items() if called_names & writers} - writers:
        writers |= new_writers
    return writers


def _find_calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _iterate_module_level_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield all nodes that run when the file is executed, without the bodies of functions and classes."""
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, Function | ast.ClassDef | ast.Lambda):
            continue
        yield node
        pending.extend(ast.iter_child_nodes(node))


def _has_action_callback(call: ast.Call) -> bool:
    return any(
        keyword.arg in _CALLBACKS and _last_name(keyword.value) == _RUN_ACTION for keyword in call.keywords
    )


def _runs_action(function: Function) -> bool:
    return any(_has_action_callback(call) for call in _find_calls(function))


def _iterate_action_arguments(call: ast.Call) -> Iterator[ast.AST]:
    """Yield the names in ``args=(…)`` of a widget whose callback is ``run_action``."""
    if _has_action_callback(call):
        for keyword in call.keywords:
            if keyword.arg == "args":
                yield from ast.walk(keyword.value)


def _iterate_caller_arguments(call: ast.Call, action_callers: set[str]) -> Iterator[ast.AST]:
    """Yield the names in the arguments of a call of a function of this file that calls ``run_action``."""
    if _last_name(call) in action_callers:
        for value in (*call.args, *(keyword.value for keyword in call.keywords)):
            yield from ast.walk(value)


def _last_name(node: ast.AST) -> str:
    """Return ``button`` for ``st.button(…)``, ``st.button`` and ``button``."""
    if isinstance(node, ast.Call):
        return _last_name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _make_violation(source: SourceFile, node: ast.expr | ast.stmt, rule: str, text: str) -> Violation:
    return Violation(path=source.path, line=node.lineno, rule=rule, text=text)


RULES = (
    find_writes_while_drawing,
    find_writes_outside_action,
    find_drawing_while_writing,
    find_submits_without_action,
    find_plain_fragments,
    find_threads,
)
