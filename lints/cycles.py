"""Modules that import each other, directly or indirectly."""

import ast
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter

from lints.source import SourceFile, Violation


def find_import_cycle(sources: Iterable[SourceFile]) -> Iterator[Violation]:
    """Finds one cycle of imports, if there is any. Imports in functions and for type checkers also count."""
    by_module = {
        source.path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): source
        for source in sources
    }
    imports = {
        module: _find_imported_modules(source, by_module.keys()) - {module}
        for module, source in by_module.items()
    }
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        text = "move what both need into one module: " + " -> ".join(reversed(cycle))
        yield Violation(path=by_module[cycle[0]].path, line=1, rule="import-cycle", text=text)


def _find_imported_modules(source: SourceFile, modules: Iterable[str]) -> set[str]:
    """Return those of ``modules`` that a file imports."""
    known_modules = set(modules)
    names: set[str] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            submodules = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= (submodules & known_modules) or {node.module}
    return names & known_modules


RULES = (find_import_cycle,)
