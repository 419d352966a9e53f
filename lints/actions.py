"""Rules for pages that write: only in an action passed to ``act``, never while the page is drawn.

A click interrupts the running script of a page, including any write that the script has started. A callback
is not interrupted; ``act`` (ui/parts.py) reports its outcome, and offers to retry what was not saved. The
rules see one file at a time: a function writes if it opens a unit of work, or calls a function of its file
that does.
"""

import ast
from collections.abc import Iterator

from lints.source import Offence, Source

_SCREENS = ("pages/", "ui/")
_LONG_WORK = "make long work a job (ui/background_jobs)"
_OPENS = "unit_of_work"
_ACT = "act"
_CALLBACKS = {"on_click", "on_change", "on_submit", "on_select"}
_DRAWS = {"fragment", "dialog", "screen"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def write_while_drawing(source: Source) -> Iterator[Offence]:
    """Finds writes during the script run, which the next click would interrupt."""
    if not _is_screen(source):
        return
    functions = _functions(source)
    writers = _writers(functions)
    for name in sorted(writers):
        function = functions[name]
        drawn = any(_last_name(each) in _DRAWS for each in function.decorator_list)
        if drawn and not source.allows("write-while-drawing", function):
            yield _offence(source, function, "write-while-drawing", f"{name} draws and writes; {_INSTEAD}")
    for node in _at_module_level(source.tree):
        if isinstance(node, ast.Call) and _last_name(node) in {*writers, _OPENS}:
            yield _offence(
                source, node, "write-while-drawing", f"this writes as the page is drawn; {_INSTEAD}"
            )


def write_without_act(source: Source) -> Iterator[Offence]:
    """Finds functions that write and are passed to anything but ``act``: a failure would not be reported."""
    if not _is_screen(source):
        return
    functions = _functions(source)
    writers = _writers(functions)
    acting = {name for name, function in functions.items() if _hands_to_act(function)}
    fine = {
        id(name)
        for call in ast.walk(source.tree)
        if isinstance(call, ast.Call)
        for name in (*_handed_to_act(call), *_handed_to(call, acting), call.func)
    }
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Name) or node.id not in writers or id(node) in fine:
            continue
        if not source.allows("write-without-act", node):
            text = f"hand {node.id} to act: on_click=act, args=({node.id}, …)"
            yield _offence(source, node, "write-without-act", text)


def draws_while_writing(source: Source) -> Iterator[Offence]:
    """Finds functions that write and draw: Streamlit may interrupt the write at each drawing call."""
    if not _is_screen(source):
        return
    for name, function in _functions(source).items():
        calls = list(_calls(function))
        if not any(_last_name(each) == _OPENS for each in calls):
            continue
        for call in calls:
            drawn = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "st"
            if drawn and not source.allows("draws-while-writing", call):
                text = f"{name} writes: no st.{_last_name(call)} in it; {_LONG_WORK}"
                yield _offence(source, call, "draws-while-writing", text)


def submit_without_act(source: Source) -> Iterator[Offence]:
    """Finds submit buttons of forms without ``act``: a form exists to save something."""
    if not _is_screen(source):
        return
    for call in ast.walk(source.tree):
        if not isinstance(call, ast.Call) or _last_name(call) != "form_submit_button":
            continue
        if not _goes_to_act(call) and not source.allows("submit-without-act", call):
            text = "on_click=act, args=(save, …); or say why not: # allow submit-without-act: reason"
            yield _offence(source, call, "submit-without-act", text)


def fragment_without_screen(source: Source) -> Iterator[Offence]:
    """Finds plain fragments: they fail without a message if the database is unavailable."""
    if not _is_screen(source) or source.path == "ui/parts.py":
        return
    for name, function in _functions(source).items():
        for each in function.decorator_list:
            plain = isinstance(each, ast.Attribute | ast.Name) and _last_name(each) == "fragment"
            if plain and not source.allows("fragment-without-screen", each):
                yield _offence(
                    source, each, "fragment-without-screen", f"{name}: @screen of ui/parts.py instead"
                )


def thread_of_its_own(source: Source) -> Iterator[Offence]:
    """Finds threads started by a page: they end with the process, unnoticed. A background job does not."""
    if not source.path.startswith(_SCREENS):
        return
    for call in _calls(source.tree):
        if _last_name(call) == "Thread" and not source.allows("thread-of-its-own", call):
            yield _offence(source, call, "thread-of-its-own", _LONG_WORK)


_INSTEAD = "put what writes into a function of its own and hand that to act: on_click=act, args=(save, …)"


def _is_screen(source: Source) -> bool:
    return source.path.startswith(_SCREENS)


def _functions(source: Source) -> dict[str, Function]:
    return {node.name: node for node in ast.walk(source.tree) if isinstance(node, Function)}


def _writers(functions: dict[str, Function]) -> set[str]:
    """The functions that open a unit of work, and those that call them directly or indirectly."""
    calls = {name: {_last_name(node) for node in _calls(function)} for name, function in functions.items()}
    found = {name for name, called in calls.items() if _OPENS in called}
    while more := {name for name, called in calls.items() if called & found} - found:
        found |= more
    return found


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _at_module_level(tree: ast.Module) -> Iterator[ast.AST]:
    """All nodes that run when the file is executed, without the bodies of functions and classes."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Function | ast.ClassDef | ast.Lambda):
            continue
        yield node
        waiting.extend(ast.iter_child_nodes(node))


def _goes_to_act(call: ast.Call) -> bool:
    return any(word.arg in _CALLBACKS and _last_name(word.value) == _ACT for word in call.keywords)


def _hands_to_act(function: Function) -> bool:
    return any(_goes_to_act(call) for call in _calls(function))


def _handed_to_act(call: ast.Call) -> Iterator[ast.AST]:
    """The names in ``args=(…)`` of a widget whose callback is ``act``."""
    if _goes_to_act(call):
        for word in call.keywords:
            if word.arg == "args":
                yield from ast.walk(word.value)


def _handed_to(call: ast.Call, acting: set[str]) -> Iterator[ast.AST]:
    """The names passed to a function of this file that passes them on to ``act``."""
    if _last_name(call) in acting:
        for value in (*call.args, *(word.value for word in call.keywords)):
            yield from ast.walk(value)


def _last_name(node: ast.AST) -> str:
    """``button`` for ``st.button(…)``, ``st.button`` and ``button``."""
    if isinstance(node, ast.Call):
        return _last_name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _offence(source: Source, node: ast.expr | ast.stmt, rule: str, text: str) -> Offence:
    return Offence(path=source.path, line=node.lineno, rule=rule, text=text)


RULES = (
    write_while_drawing, write_without_act, draws_while_writing, submit_without_act, fragment_without_screen,
    thread_of_its_own,
)  # fmt: skip
