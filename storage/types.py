"""Column types with the same behaviour on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import BigInteger, CursorResult, DateTime, Dialect, Integer, Result, Row, Select
from sqlalchemy.types import TypeDecorator

#: 64 bits on PostgreSQL; on SQLite INTEGER, which is 64 bits and, as a primary key, the row id.
BigKey = BigInteger().with_variant(Integer(), "sqlite")


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime, stored in UTC. SQLite stores no time zone, so it is added when a value is read."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002  # SQLAlchemy's signature
        """Convert to UTC. A naive datetime is a programming error."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("the datetime has no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002  # SQLAlchemy's signature
        """Return the value with its time zone."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


#: A SELECT of any columns, for functions that add conditions to a query.
AnySelect = Select[*tuple[Any, ...]]
#: A result row of any columns, read by name.
AnyRow = Row[*tuple[Any, ...]]


def affected_rows(result: Result[*tuple[Any, ...]]) -> int:
    """Return how many rows an UPDATE or DELETE changed."""
    return cast("CursorResult[*tuple[Any, ...]]", result).rowcount
