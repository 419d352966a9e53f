"""A rule for services: every write by a person is recorded in the audit trail."""

import ast
from collections.abc import Iterator

from lints.services import STAGES
from lints.source import Offence, Source

#: The first words of the names of storage functions that write.
WRITING = {
    "add", "append", "begin", "change", "clear", "delete", "drop", "end", "fill", "finish", "freeze", "give",
    "insert", "join", "keep", "leave", "mark", "move", "put", "remove", "renew", "replace", "revoke", "save",
    "set", "store", "take", "update", "write",
}  # fmt: skip
RULE = "writes-without-record"


def writes_without_record(source: Source) -> Iterator[Offence]:
    """Finds services that write for a person and never call ``record``.

    The call may also be in another function of the same file.
    """
    if source.room not in STAGES or "service" not in source.path:
        return
    functions = {node.name: node for node in source.tree.body if isinstance(node, ast.FunctionDef)}
    modules, names = _from_storage(source.tree)
    for name, function in functions.items():
        arguments = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}
        if name.startswith("_") or "db" not in arguments or not arguments & {"by", "person"}:
            continue
        called = list(_calls(function, functions, set()))
        writes = next((each for each in called if _writes(each, modules, names)), None)
        records = any(_last_name(each) in {"record", "record_many"} for each in called)
        if writes is not None and not records and not _allowed(source, function):
            yield Offence(
                path=source.path,
                line=function.lineno,
                rule=RULE,
                text=f"{name} writes ({_last_name(writes)}) and puts nothing on record: call "
                "accounts.service.audit.record, or say why not: # allow writes-without-record: reason",
            )


def _calls(
    function: ast.FunctionDef, functions: dict[str, ast.FunctionDef], seen: set[str]
) -> Iterator[ast.Call]:
    """Every call in the function, and in the functions of the same file that it calls."""
    seen.add(function.name)
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            yield node
            if isinstance(node.func, ast.Name) and node.func.id in functions and node.func.id not in seen:
                yield from _calls(functions[node.func.id], functions, seen)


def _writes(call: ast.Call, modules: set[str], names: dict[str, str]) -> bool:
    func = call.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in modules:
        name = func.attr
    elif isinstance(func, ast.Name) and func.id in names:
        name = names[func.id]
    else:
        return False
    return name.split("_")[0] in WRITING


def _from_storage(tree: ast.Module) -> tuple[set[str], dict[str, str]]:
    """What a file imports from storage.

    Returns:
        The modules by their local names, and the functions: local name to original name.
    """
    modules: set[str] = set()
    names: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "storage":
            for alias in node.names:
                if node.module == "storage":
                    modules.add(alias.asname or alias.name)
                else:
                    names[alias.asname or alias.name] = alias.name
    return modules, names


def _last_name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _allowed(source: Source, function: ast.FunctionDef) -> bool:
    """Whether the function has an allowance, on the line of its ``def`` or within its signature."""
    last = function.body[0].lineno - 1
    marked = ast.copy_location(ast.Pass(), function)
    marked.end_lineno = max(last, function.lineno)
    return source.allows(RULE, marked)


RULES = (writes_without_record,)
