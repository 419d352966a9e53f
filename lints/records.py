"""A rule for services: every write by a person is recorded in the audit trail."""

import ast
from collections.abc import Iterator

from lints.services import SERVICE_PACKAGES
from lints.source import SourceFile, Violation

#: The first words of the names of storage functions that write.
WRITE_VERBS = {
    "add", "append", "begin", "change", "clear", "delete", "drop", "end", "fill", "finish", "freeze", "give",
    "insert", "join", "keep", "leave", "mark", "move", "remove", "renew", "replace", "revoke", "save",
    "set", "store", "take", "update", "write",
}  # fmt: skip
RULE = "writes-without-record"


def find_unaudited_writes(source: SourceFile) -> Iterator[Violation]:
    """Finds services that write for a person and never call ``record_action``.

    The call may also be in another function of the same file that the service calls.
    """
    if source.package not in SERVICE_PACKAGES or "service" not in source.path:
        return
    functions = {node.name: node for node in source.tree.body if isinstance(node, ast.FunctionDef)}
    modules, names = _find_storage_imports(source.tree)
    for name, function in functions.items():
        arguments = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
        if name.startswith("_") or "db" not in arguments or not arguments & {"by", "person"}:
            continue
        calls = list(_iterate_reachable_calls(function, functions, set()))
        write_call = next((call for call in calls if _is_write(call, modules, names)), None)
        is_recorded = any(_last_name(call) == "record_action" for call in calls)
        if write_call is not None and not is_recorded and not _is_allowed(source, function):
            yield Violation(
                path=source.path,
                line=function.lineno,
                rule=RULE,
                text=f"{name} writes ({_last_name(write_call)}) without an audit entry: call "
                "accounts.service.audit.record_action, or state why not: "
                "# allow writes-without-record: reason",
            )


def _iterate_reachable_calls(
    function: ast.FunctionDef, functions: dict[str, ast.FunctionDef], visited: set[str]
) -> Iterator[ast.Call]:
    """Yield every call in the function, and in the functions of the same file that it calls."""
    visited.add(function.name)
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            yield node
            if isinstance(node.func, ast.Name) and node.func.id in functions and node.func.id not in visited:
                yield from _iterate_reachable_calls(functions[node.func.id], functions, visited)


def _is_write(call: ast.Call, modules: set[str], names: dict[str, str]) -> bool:
    func = call.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in modules:
        name = func.attr
    elif isinstance(func, ast.Name) and func.id in names:
        name = names[func.id]
    else:
        return False
    return name.split("_")[0] in WRITE_VERBS


def _find_storage_imports(tree: ast.Module) -> tuple[set[str], dict[str, str]]:
    """Return what a file imports from storage.

    Returns:
        The local names of the modules, and a mapping from the local to the original names of the functions.
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


def _is_allowed(source: SourceFile, function: ast.FunctionDef) -> bool:
    """Return whether the signature of the function has a comment ``# allow …`` for this rule."""
    last_line = function.body[0].lineno - 1
    signature_node = ast.copy_location(ast.Pass(), function)
    signature_node.end_lineno = max(last_line, function.lineno)
    return source.allows(RULE, signature_node)


RULES = (find_unaudited_writes,)
