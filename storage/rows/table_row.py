"""The base class of every table."""

from typing import TYPE_CHECKING, ClassVar

from sqlmodel import SQLModel

if TYPE_CHECKING:
    from sqlalchemy import Table


class TableRow(SQLModel):
    """A row of a table. SQLModel sets ``__table__`` on subclasses but does not declare it."""

    # SQLModel does not validate rows of tables, so pydantic does not need to build validators.
    model_config = {"defer_build": True}

    if TYPE_CHECKING:
        __table__: ClassVar["Table"]
