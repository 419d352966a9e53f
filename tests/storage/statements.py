"""Counts the statements and transactions that a block of code sends to the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import Engine, event

#: Statements that configure a transaction or its timeout; they read no table.
_SETUP_PREFIXES = ("BEGIN", "PRAGMA", "SET LOCAL")


@dataclass
class StatementCount:
    """The text of each statement, and the number of transactions begun."""

    statements: list[str] = field(default_factory=list)
    transactions: int = 0


@contextmanager
def count_statements() -> Iterator[StatementCount]:
    """Count the statements and transactions of the block, on any engine."""
    counts = StatementCount()

    def note_statement(
        _connection: object, _cursor: object, statement: str, _values: object, _context: object, _many: bool
    ) -> None:
        if not statement.startswith(_SETUP_PREFIXES):
            counts.statements.append(statement)

    def note_transaction(_connection: object) -> None:
        counts.transactions += 1

    event.listen(Engine, "before_cursor_execute", note_statement)
    event.listen(Engine, "begin", note_transaction)
    try:
        yield counts
    finally:
        event.remove(Engine, "before_cursor_execute", note_statement)
        event.remove(Engine, "begin", note_transaction)
