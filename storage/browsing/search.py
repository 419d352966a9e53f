"""Full-text search over millions of questions, with an index that is filled after the import.

SQLite uses FTS5 (https://sqlite.org/fts5.html), PostgreSQL tsvector and GIN. A question is indexed by its
words (id, stem, options, explanation) and by facets such as ``tpresence``. A facet contains a value
from the file in hexadecimal, so that it is one token. Imported questions never change, so the index only
grows, in the order of the database ids. "Number" means the database id in this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, text
from sqlmodel import Session

#: The first letter of each column's facets. The facet of a missing value ends in "none".
FACETS = {
    "dataset_id": "d",
    "format": "f",
    "task": "t",
    "difficulty": "h",
    "category": "c",
    "subcategory": "s",
    "content_type": "n",
    "generator": "g",
    "prompt_version": "p",
    "import_id": "i",
}
_UNENCODED = {"dataset_id", "format", "task", "difficulty", "import_id"}  # ids and enum values
_TEXT_COLUMN = "said"  # the name of the text column in SQLite's index
_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build
_FEW_ROWS = 3_000  # looking up one question takes about 30 us, scanning a million takes 200 ms
# Hidden questions and those of practice sets are never listed, and no message reveals this.
_ORDINARY = "dataset_id NOT IN (SELECT dataset_id FROM hidden_set UNION SELECT dataset_id FROM practice_set)"
#: The questions with these ids, for :func:`_build_insert`.
_SELECTED = f"(SELECT * FROM question WHERE id IN :ids AND {_ORDINARY}) AS q"  # noqa: S608 - our own text
#: The facet of questions that have boxes.
WITH_BOXES = "b1"
# A star marks a prefix. The last word is not a prefix by default, because the index would collect all words
# with that prefix before it returns the first result, and "no" would match every "nodule".
_WORD = re.compile(r"(\w+)(\*?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """The highest question row id in the index and in the table; 0 if there is none."""

    last_indexed: int
    newest: int

    @property
    def is_behind(self) -> bool:
        return self.last_indexed < self.newest


def encode_facet(column: str, value: str | int | None) -> str:
    """Return the facet of a column's value, as stored in the index."""
    letter = FACETS[column]
    if value is None:
        return f"{letter}none"
    return f"{letter}{value}" if column in _UNENCODED else f"{letter}x{str(value).encode().hex()}"


def load_index_state(db: Session) -> IndexState:
    """Return how far the index has been filled."""
    key = "rowid" if _is_sqlite(db) else "question_id"
    last_indexed = db.execute(text(f"SELECT max({key}) FROM question_words")).scalar_one()  # noqa: S608 - our own name
    newest = db.execute(
        text(f"SELECT id FROM question WHERE {_ORDINARY} ORDER BY id DESC LIMIT 1")  # noqa: S608 - our own text
    ).scalar()
    return IndexState(last_indexed=last_indexed or 0, newest=newest or 0)


def index_next_questions(db: Session, *, after: int, limit: int) -> int:
    """Add up to ``limit`` questions with numbers above ``after``; return the highest number added, or 0."""
    is_sqlite = _is_sqlite(db)
    if not is_sqlite:  # two concurrent calls would add the same numbers
        db.execute(text("LOCK TABLE question_words IN SHARE ROW EXCLUSIVE MODE"))
    parameters = {"after": after, "most": limit}
    where = f"id > :after AND {_ORDINARY}"
    source = f"(SELECT * FROM question WHERE {where} ORDER BY id LIMIT :most) AS q"  # noqa: S608 - our own text
    last = db.execute(text(f"SELECT max(id) FROM {source}"), parameters).scalar_one()  # noqa: S608 - our own text
    if last is None:
        return 0
    db.execute(text(_build_insert(source, sqlite=is_sqlite)), parameters)
    return int(last)


def remove_from_index(db: Session, *, question_ids: Iterable[int]) -> list[int]:
    """Remove questions from the index before their boxes change; return those that were in it, ascending.

    :func:`add_to_index` adds them again afterwards. SQLite's index can remove a question only if it gets the
    text that was indexed.
    """
    is_sqlite, last_indexed = _is_sqlite(db), load_index_state(db).last_indexed
    ids = sorted(question_id for question_id in question_ids if question_id <= last_indexed)
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        statement = (
            text(_build_insert(_SELECTED, sqlite=True, command="delete"))
            if is_sqlite
            else text("DELETE FROM question_words WHERE question_id IN :ids")
        )
        db.execute(statement.bindparams(bindparam("ids", expanding=True)), {"ids": chunk})
    return ids


def add_to_index(db: Session, *, question_ids: Sequence[int]) -> None:
    """Add questions again that :func:`remove_from_index` removed."""
    statement = text(_build_insert(_SELECTED, sqlite=_is_sqlite(db)))
    for start in range(0, len(question_ids), _CHUNK):
        chunk = list(question_ids[start : start + _CHUNK])
        db.execute(statement.bindparams(bindparam("ids", expanding=True)), {"ids": chunk})


def _build_insert(source: str, *, sqlite: bool, command: str = "") -> str:
    """Return the SQL that indexes the questions of ``source``, or that gives SQLite's index a command."""
    words = "q.key || ' ' || q.stem || ' ' || q.options || ' ' || q.explanation"
    facets = " || ' ' || ".join(
        [*(_facet_expression(column, sqlite=sqlite) for column in FACETS), _boxes_expression()]
    )
    if command:
        return (
            f"INSERT INTO question_words (question_words, rowid, {_TEXT_COLUMN}, facets) "  # noqa: S608 - our own names
            f"SELECT '{command}', q.id, {words}, {facets} FROM {source}"
        )
    if sqlite:
        return (
            f"INSERT INTO question_words (rowid, {_TEXT_COLUMN}, facets) "  # noqa: S608 - our own names
            f"SELECT q.id, {words}, {facets} FROM {source}"
        )
    return (
        "INSERT INTO question_words (question_id, words) SELECT q.id, "  # noqa: S608 - our own names
        f"to_tsvector('simple', {words}) || array_to_tsvector(string_to_array({facets}, ' '))"
        f" FROM {source} "
        "ON CONFLICT DO NOTHING"
    )


def find_matching_questions(
    db: Session,
    *,
    query: str,
    facets: Sequence[str | Sequence[str]],
    dataset_id: int,
    condition: str = "",
    allowed_sql: str = "",
    values: Mapping[str, object] | None = None,
    after: int = 0,
    before: int | None = None,
    limit: int,
) -> list[int]:
    """Return the numbers of questions that have all these words and facets, ascending.

    Args:
        db: a session.
        query: words; text in quotation marks is a phrase, a word followed by a star is a prefix.
        facets: facets as :func:`encode_facet` returns them; of those in an inner sequence, one is enough.
        dataset_id: the dataset to search.
        condition: an additional SQL condition on the question's number, in which ``number`` stands for it.
        allowed_sql: SQL that selects the permitted numbers.
        values: bound parameters of ``condition`` and ``allowed_sql``.
        after: return only higher numbers.
        before: return only lower numbers, and of these the ``limit`` highest.
        limit: the maximum number of results.
    """
    is_sqlite = _is_sqlite(db)
    where, parameters = [], {**(values or {}), "after": after, "before": before, "most": limit}
    if query or facets:
        # If there is only one dataset, its facet matches every question and only makes the query slower.
        other_datasets = db.execute(text("SELECT 1 FROM dataset WHERE id <> :id LIMIT 1"), {"id": dataset_id})
        facets = [*facets, encode_facet("dataset_id", dataset_id)] if other_datasets.first() else list(facets)
    index_query = fts_query(query, facets) if is_sqlite else ts_query(query, facets)
    number_column = "id" if not index_query else "rowid" if is_sqlite else "question_id"
    table = "question_words" if index_query else "question"
    if index_query:
        parameters["query"] = index_query
        where.append("question_words MATCH :query" if is_sqlite else "words @@ CAST(:query AS tsquery)")
    if not index_query:
        # The plus prevents SQLite from using the index on datasets, which is in another order and requires a
        # sort.
        where.append(f"{'+' if is_sqlite else ''}question.dataset_id = :dataset_id")
        parameters["dataset_id"] = dataset_id
    where.append(f"{number_column} > :after")
    if before is not None:
        where.append(f"{number_column} < :before")
    if condition:
        # The column is qualified, because tables in the condition may have a column of the same name. The
        # plus makes SQLite scan the index once instead of looking up each number.
        qualified = f"{'+' if is_sqlite and index_query else ''}{table}.{number_column}"
        where.append(re.sub(r"\bnumber\b", qualified, condition))
    if allowed_sql:
        # A few numbers are looked up in the index one by one. Many numbers are matched during one scan.
        one_by_one = not (is_sqlite and index_query) or _has_few_rows(db, allowed_sql, parameters)
        where.append(f"{'' if one_by_one else '+'}{table}.{number_column} IN ({allowed_sql})")
    order = "DESC" if before is not None else "ASC"
    statement = (
        f"SELECT {number_column} FROM {table} WHERE {' AND '.join(where)} "  # noqa: S608 - our own text
        f"ORDER BY {number_column} {order} LIMIT :most"
    )
    numbers = list(db.execute(text(statement), parameters).scalars())
    return numbers[::-1] if before is not None else numbers


def _has_few_rows(db: Session, allowed_sql: str, values: Mapping[str, object]) -> bool:
    statement = text(f"SELECT count(*) FROM ({allowed_sql} LIMIT {_FEW_ROWS + 1})")  # noqa: S608 - our own text
    return bool(db.execute(statement, values).scalar_one() <= _FEW_ROWS)


def fts_query(query: str, facets: Sequence[str | Sequence[str]]) -> str:
    """Return FTS5's query: all words in the text column, all facets in ``facets``; "" for no condition."""
    conditions = [
        f"facets : {facet}" if isinstance(facet, str) else f"facets : ({' OR '.join(facet)})"
        for facet in facets
    ]
    for words, is_prefix in _parse_phrases(query):
        phrase = f'"{" ".join(words)}"'
        conditions.append(f"{_TEXT_COLUMN} : {phrase}{'*' if is_prefix else ''}")
    return " AND ".join(conditions)


def ts_query(query: str, facets: Sequence[str | Sequence[str]]) -> str:
    """Return PostgreSQL's tsquery for the same words and facets."""
    conditions = [
        f"'{facet}'"
        if isinstance(facet, str)
        else "({})".format(" | ".join(f"'{alternative}'" for alternative in facet))
        for facet in facets
    ]
    for words, is_prefix in _parse_phrases(query):
        lexemes = [f"'{word.lower()}'" for word in words]
        if is_prefix:
            lexemes[-1] += ":*"
        conditions.append(f"({' <-> '.join(lexemes)})")
    return " & ".join(conditions)


def _parse_phrases(query: str) -> list[tuple[list[str], bool]]:
    """Return (words, whether the last is a prefix) of each quoted phrase and each other word."""
    phrases: list[tuple[list[str], bool]] = []
    for index, segment in enumerate(query.replace("“", '"').replace("”", '"').split('"')):
        words = _WORD.findall(segment)
        if index % 2 and words:
            phrases.append(([word for word, _ in words], bool(words[-1][1])))
        else:
            phrases += [([word], bool(star)) for word, star in words]
    return phrases


def _facet_expression(column: str, *, sqlite: bool) -> str:
    """Return the SQL expression of a column's facet."""
    letter = FACETS[column]
    if column in _UNENCODED:
        return f"'{letter}' || coalesce(CAST(q.{column} AS TEXT), 'none')"
    encoded = f"lower(hex(q.{column}))" if sqlite else f"encode(convert_to(q.{column}, 'UTF8'), 'hex')"
    return f"'{letter}' || coalesce('x' || {encoded}, 'none')"


def _boxes_expression() -> str:
    return "CASE WHEN q.boxes = '[]' THEN 'b0' ELSE 'b1' END"


def _is_sqlite(db: Session) -> bool:
    return db.get_bind().dialect.name == "sqlite"
