"""Imports on first use, for packages that offer the functions of many modules under one name."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


def import_on_use(package: str) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for a package whose imports are under ``if TYPE_CHECKING``.

    A module is imported when one of its names is first used. A command therefore imports only the modules
    that it needs. The import of all modules of every service took more than half of its start time.

    Args:
        package: the ``__name__`` of the package. The names are read from its source, so no second list is
            needed.

    Raises:
        AttributeError: by the returned function, if the package imports no such name.
    """

    @cache
    def modules_by_name() -> dict[str, str]:
        path = sys.modules[package].__file__
        assert path is not None  # noqa: S101 - a package with an ``__init__.py``
        tree = ast.parse(Path(path).read_bytes())
        conditions = [node for node in tree.body if isinstance(node, ast.If)]
        imports = [
            node for condition in conditions for node in condition.body if isinstance(node, ast.ImportFrom)
        ]
        return {alias.name: str(node.module) for node in imports for alias in node.names}

    def load(name: str) -> Any:  # noqa: ANN401 - any name of the package
        module = modules_by_name().get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
