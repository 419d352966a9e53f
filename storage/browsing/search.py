"""Finding questions among millions: an index over their words and facets, kept apart from the import.

SQLite has FTS5 (https://sqlite.org/fts5.html), PostgreSQL tsvector and GIN. Each question is a list of words
(id, stem, options, explanation) and of facets such as ``tpresence``; texts of others are spelled in
hexadecimal there, so that one word stays one. Questions never change once they are in, so only new ones are
added, in the order of their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import text
from sqlmodel import Session

#: A facet's first letter, and the column it stands for. What is missing is "none".
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
_PLAIN = {"dataset_id", "format", "task", "difficulty", "import_id"}  # their values are words of ours
_FEW = 3_000  # numbers; one costs some 30 us to ask for, a million that are walked 200 ms
# Questions that are hidden in a batch are in no list, and nobody is told that they can't be found.
_ORDINARY = "dataset_id NOT IN (SELECT dataset_id FROM hidden_set)"
#: The facet of questions that have boxes.
WITH_BOXES = "b1"
# A star makes a beginning of a word. Not each last word is one: all words that begin with a common one
# would be gathered before the first is found, and "no" would find every nodule.
_WORD = re.compile(r"(\w+)(\*?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """How far the index has come: the highest number in it, and the highest there is; 0 for none."""

    through: int
    newest: int

    @property
    def behind(self) -> bool:
        return self.through < self.newest


def facet(column: str, value: str | int | None) -> str:
    """The word by which a question with that value is found."""
    letter = FACETS[column]
    if value is None:
        return f"{letter}none"
    return f"{letter}{value}" if column in _PLAIN else f"{letter}x{str(value).encode().hex()}"


def index_state(db: Session) -> IndexState:
    """How far it has come."""
    key = "rowid" if _is_sqlite(db) else "question_id"
    through = db.execute(text(f"SELECT max({key}) FROM question_words")).scalar_one()  # noqa: S608 - our own name
    newest = db.execute(
        text(f"SELECT id FROM question WHERE {_ORDINARY} ORDER BY id DESC LIMIT 1")  # noqa: S608 - our own text
    ).scalar()
    return IndexState(through=through or 0, newest=newest or 0)


def index_more(db: Session, *, after: int, most: int) -> int:
    """Add up to ``most`` questions with numbers above ``after``; the highest number that was added, or 0."""
    sqlite = _is_sqlite(db)
    if not sqlite:  # two that index at once would both add the same numbers
        db.execute(text("LOCK TABLE question_words IN SHARE ROW EXCLUSIVE MODE"))
    numbers = {"after": after, "most": most}
    where = f"id > :after AND {_ORDINARY}"
    some = f"(SELECT * FROM question WHERE {where} ORDER BY id LIMIT :most) AS q"  # noqa: S608 - our own text
    last = db.execute(text(f"SELECT max(id) FROM {some}"), numbers).scalar_one()  # noqa: S608 - our own text
    if last is None:
        return 0
    said = "q.key || ' ' || q.stem || ' ' || q.options || ' ' || q.explanation"
    facets = " || ' ' || ".join([*(_spelled(column, sqlite=sqlite) for column in FACETS), _boxes()])
    if sqlite:
        statement = (
            "INSERT INTO question_words (rowid, said, facets) "  # noqa: S608 - our own names
            f"SELECT q.id, {said}, {facets} FROM {some}"
        )
    else:
        statement = (
            "INSERT INTO question_words (question_id, words) SELECT q.id, "  # noqa: S608 - our own names
            f"to_tsvector('simple', {said}) || array_to_tsvector(string_to_array({facets}, ' ')) FROM {some} "
            "ON CONFLICT DO NOTHING"
        )
    db.execute(text(statement), numbers)
    return int(last)


def matching(
    db: Session,
    *,
    said: str,
    facets: Sequence[str],
    dataset_id: int,
    also: str = "",
    within: str = "",
    values: Mapping[str, object] | None = None,
    after: int = 0,
    before: int | None = None,
    most: int,
) -> list[int]:
    """Numbers of questions in rising order that have all these words and facets.

    Args:
        db: a session.
        said: words; a text in quotation marks is a phrase, a word with a star after it a beginning.
        facets: as :func:`facet` spells them.
        dataset_id: whose questions.
        also: a further condition in SQL on the number, which is called ``number`` there.
        within: SQL that selects the numbers among which they must be.
        values: bound to the names in ``also`` and ``within``.
        after: only numbers above it.
        before: only numbers below it; the ``most`` nearest to it then.
        most: how many at the most.
    """
    sqlite = _is_sqlite(db)
    where, bound = [], {**(values or {}), "after": after, "before": before, "most": most}
    if said or facets:
        # The dataset's own facet is in every question where there is one dataset: a long list for nothing.
        others = db.execute(text("SELECT 1 FROM dataset WHERE id <> :id LIMIT 1"), {"id": dataset_id})
        facets = [*facets, facet("dataset_id", dataset_id)] if others.first() else list(facets)
    query = fts_query(said, facets) if sqlite else ts_query(said, facets)
    number = "id" if not query else "rowid" if sqlite else "question_id"
    table = "question_words" if query else "question"
    if query:
        bound["query"] = query
        where.append("question_words MATCH :query" if sqlite else "words @@ CAST(:query AS tsquery)")
    if not query:
        # Unindexed on purpose on SQLite: its index of datasets is in another order, and would be sorted.
        where.append(f"{'+' if sqlite else ''}question.dataset_id = :dataset_id")
        bound["dataset_id"] = dataset_id
    where.append(f"{number} > :after")
    if before is not None:
        where.append(f"{number} < :before")
    if also:
        # Qualified, since a table of the condition has numbers too; the plus keeps SQLite from asking the
        # index for each number of a set, instead of walking it once.
        named = f"{'+' if sqlite and query else ''}{table}.{number}"
        where.append(re.sub(r"\bnumber\b", named, also))
    if within:
        # A few numbers are asked of the index one by one, many are looked for while it is walked.
        one_by_one = not (sqlite and query) or _are_few(db, within, bound)
        where.append(f"{'' if one_by_one else '+'}{table}.{number} IN ({within})")
    order = "DESC" if before is not None else "ASC"
    statement = (
        f"SELECT {number} FROM {table} WHERE {' AND '.join(where)} ORDER BY {number} {order} LIMIT :most"  # noqa: S608 - our own names and conditions
    )
    found = list(db.execute(text(statement), bound).scalars())
    return found[::-1] if before is not None else found


def _are_few(db: Session, within: str, values: Mapping[str, object]) -> bool:
    statement = text(f"SELECT count(*) FROM ({within} LIMIT {_FEW + 1})")  # noqa: S608 - our own text
    return bool(db.execute(statement, values).scalar_one() <= _FEW)


def fts_query(said: str, facets: Sequence[str]) -> str:
    """FTS5's query: every word in ``said``'s column, every facet in its own; "" where nothing is asked."""
    parts = [f"facets : {each}" for each in facets]
    for words, begins in _phrases(said):
        spelled = f'"{" ".join(words)}"'
        parts.append(f"said : {spelled}{'*' if begins else ''}")
    return " AND ".join(parts)


def ts_query(said: str, facets: Sequence[str]) -> str:
    """PostgreSQL's tsquery for the same."""
    parts = [f"'{each}'" for each in facets]
    for words, begins in _phrases(said):
        spelled = [f"'{word.lower()}'" for word in words]
        if begins:
            spelled[-1] += ":*"
        parts.append(f"({' <-> '.join(spelled)})")
    return " & ".join(parts)


def _phrases(said: str) -> list[tuple[list[str], bool]]:
    """(its words, whether the last is a beginning) of each phrase in quotation marks and each other word."""
    found: list[tuple[list[str], bool]] = []
    for place, part in enumerate(said.replace("“", '"').replace("”", '"').split('"')):
        words = _WORD.findall(part)
        if place % 2 and words:
            found.append(([word for word, _ in words], bool(words[-1][1])))
        else:
            found += [([word], bool(star)) for word, star in words]
    return found


def _spelled(column: str, *, sqlite: bool) -> str:
    """The facet of a column in SQL."""
    letter = FACETS[column]
    if column in _PLAIN:
        return f"'{letter}' || coalesce(CAST(q.{column} AS TEXT), 'none')"
    spelled = f"lower(hex(q.{column}))" if sqlite else f"encode(convert_to(q.{column}, 'UTF8'), 'hex')"
    return f"'{letter}' || coalesce('x' || {spelled}, 'none')"


def _boxes() -> str:
    return "CASE WHEN q.boxes = '[]' THEN 'b0' ELSE 'b1' END"


def _is_sqlite(db: Session) -> bool:
    return db.get_bind().dialect.name == "sqlite"
