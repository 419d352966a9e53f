"""A computed study report: facts about the study, sentences and tables, and its JSON format."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from domain.errors import Refused
from domain.protocols import protocol_from_plain
from measures.results import ArmComparison, PairedDifference, Record, tables_from_records, tables_to_records
from reader_study.report.facts import StudyFacts, facts_from_plain
from reader_study.report.sentences import write_sentences
from reader_study.report.tables import ReportTables

VERSION = "overread.study-report/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReport:
    """A report: ``facts`` about the study, its sentences (``words``), and its ``tables``."""

    facts: StudyFacts
    words: tuple[str, ...]
    tables: ReportTables

    def to_records(self) -> dict[str, list[Record]]:
        """Return the tables as flat records, by name."""
        return tables_to_records(self.tables)

    def to_json(self) -> str:
        """Return the report as JSON. The same data gives the same bytes."""
        plain = {
            "version": VERSION,
            "facts": asdict(self.facts),
            "words": list(self.words),
            "tables": self.to_records(),
        }
        return json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> StudyReport:
        """Read a report from JSON. This is the exact inverse of :meth:`to_json`.

        Raises:
            ValueError: the text is not a report with the tables and columns of this version.
        """
        try:
            plain: dict[str, Any] = json.loads(text)
            return cls(
                facts=facts_from_plain(plain["facts"]),
                words=tuple(plain["words"]),
                tables=tables_from_records(ReportTables, plain["tables"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"This study report cannot be read: {error}") from error

    def compare_with(self, model: str | None) -> StudyReport:
        """Return the report with the comparisons with another model.

        Args:
            model: the name of the model; None for the protocol's model.

        Raises:
            Refused: the study has no model with this name.
        """
        protocol = protocol_from_plain(self.facts.protocol)
        facts = replace(self.facts, model=choose_model(self.tables, protocol.model, model))
        return replace(self, facts=facts, words=write_sentences(facts, self.tables, protocol))

    def filter_by_kind(self, kinds: Collection[str]) -> StudyReport:
        """Return the report with the rows of some kinds of raters, and the comparisons with the chosen model.

        Args:
            kinds: the kinds of raters to keep, "reader" or "model". Tables that are not about raters keep all
                rows.
        """
        rater_names = {result.rater for result in self.tables.overall if result.kind in kinds}
        comparable_names = rater_names | {self.facts.model}

        def filter_rows(rows: tuple[Any, ...]) -> tuple[Any, ...]:
            if not rows:
                return rows
            if isinstance(rows[0], ArmComparison):
                return rows if "reader" in kinds else ()
            columns = [name for name in ("rater", "a", "b") if hasattr(rows[0], name)]
            if not columns:
                return rows
            if isinstance(rows[0], PairedDifference):
                return tuple(
                    row
                    for row in rows
                    if row.a in comparable_names
                    and row.b in comparable_names
                    and (row.a in rater_names or row.b in rater_names)
                )
            return tuple(row for row in rows if all(getattr(row, name) in rater_names for name in columns))

        tables = {table.name: filter_rows(getattr(self.tables, table.name)) for table in fields(self.tables)}
        return replace(self, tables=ReportTables(**tables))


def choose_model(tables: ReportTables, protocol_model: str, requested: str | None) -> str | None:
    """Return the model with which raters are compared.

    Args:
        tables: the tables of the report.
        protocol_model: the model of the protocol; "" for none.
        requested: the user's choice; None for the model of the protocol.

    Returns:
        The name of the model; None if there are several models and the protocol names none of them.

    Raises:
        Refused: the study has no model with the requested name.
    """
    models = [row.rater for row in tables.overall if row.kind == "model"]
    if requested is not None:
        if requested not in models:
            raise Refused(
                f"This study has no model {requested!r}. Models: {', '.join(models) or 'none'}. Choose "
                "another: cli.py study models NAME --add MODEL."
            )
        return requested
    return protocol_model if protocol_model in models else models[0] if len(models) == 1 else None
