"""A mypy plugin: a column of a SQLModel table, accessed on the class, has an SQLAlchemy attribute's type.

SQLModel declares ``id: int``, which is the type on an instance. On the class, ``VerdictRow.id`` is an
``InstrumentedAttribute[int]``, which has ``.in_()``, ``.desc()`` and comparisons that give SQL expressions.
SQLModel offers ``col(VerdictRow.id)`` to declare that to the type checker; this plugin does it for every use.
"""

from __future__ import annotations

from collections.abc import Callable

from mypy.nodes import SymbolTableNode, TypeInfo, Var
from mypy.plugin import AttributeContext, Plugin
from mypy.types import Instance, Type

_SQLMODEL = "sqlmodel.main.SQLModel"
_ATTRIBUTE = "sqlalchemy.orm.attributes.InstrumentedAttribute"


class SqlModelColumns(Plugin):
    """Types class-level access to the columns of SQLModel tables."""

    def get_class_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        class_name, _, name = fullname.rpartition(".")
        symbol = self.lookup_fully_qualified(class_name)
        return self._as_attribute if _is_table(symbol) and _is_column(symbol, name) else None

    def _as_attribute(self, context: AttributeContext) -> Type:
        symbol = self.lookup_fully_qualified(_ATTRIBUTE)
        if symbol is None or not isinstance(symbol.node, TypeInfo):
            return context.default_attr_type
        return Instance(symbol.node, [context.default_attr_type])


def _is_table(symbol: SymbolTableNode | None) -> bool:
    return symbol is not None and isinstance(symbol.node, TypeInfo) and symbol.node.has_base(_SQLMODEL)


def _is_column(symbol: SymbolTableNode | None, name: str) -> bool:
    if symbol is None or not isinstance(symbol.node, TypeInfo):
        return False
    field = symbol.node.get(name) if not name.startswith("_") else None
    return field is not None and isinstance(field.node, Var) and not field.node.is_classvar


def plugin(_version: str) -> type[Plugin]:
    """The entry point that mypy calls."""
    return SqlModelColumns
