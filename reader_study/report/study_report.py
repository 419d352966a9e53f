"""A computed study report: facts of the study, sentences and tables, stored and written as files."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from domain.errors import Refused
from domain.protocols import protocol_from_plain
from measures.results import PairedDifference, Record, tables_from_records, tables_to_records
from reader_study.report.facts import StudyFacts, facts_from_plain
from reader_study.report.sentences import sentences
from reader_study.report.tables import ReportTables

VERSION = "overread.study-report/1"
#: Agreement on fewer cases is shown in grey.
FEW = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReport:
    """A report: ``facts`` of the study, sentences (``words``) and ``tables``."""

    facts: StudyFacts
    words: tuple[str, ...]
    tables: ReportTables

    def records(self) -> dict[str, list[Record]]:
        """The tables as flat records, by name."""
        return tables_to_records(self.tables)

    def text(self) -> str:
        """The report as JSON; the same data gives the same bytes."""
        plain = {
            "version": VERSION,
            "facts": asdict(self.facts),
            "words": list(self.words),
            "tables": self.records(),
        }
        return json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    @classmethod
    def from_text(cls, text: str) -> StudyReport:
        """The inverse of :meth:`text`, to the last digit.

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
            raise ValueError(f"This is no study report that can be read here: {error}") from error

    def against(self, model: str | None) -> StudyReport:
        """The same report, compared with another model.

        Args:
            model: name of the model; None for the protocol's.

        Raises:
            Refused: there is no such model.
        """
        protocol = protocol_from_plain(self.facts.protocol)
        facts = replace(self.facts, model=chosen_model(self.tables, protocol.model, model))
        return replace(self, facts=facts, words=sentences(facts, self.tables, protocol))

    def of_kinds(self, kinds: Collection[str]) -> StudyReport:
        """The report with the rows of some kinds of raters only; comparisons with the chosen model stay.

        Args:
            kinds: "reader" and "model". Tables that are not about raters keep all rows.
        """
        kept = {each.rater for each in self.tables.overall if each.kind in kinds}
        compared = kept | {self.facts.model}

        def is_kept(row: object) -> bool:
            raters = {getattr(row, name) for name in ("rater", "a", "b") if hasattr(row, name)}
            if isinstance(row, PairedDifference):
                return raters <= compared and not raters.isdisjoint(kept)
            return raters <= kept

        tables = {
            table.name: tuple(filter(is_kept, getattr(self.tables, table.name)))
            for table in fields(self.tables)
        }
        return replace(self, tables=ReportTables(**tables))


def chosen_model(tables: ReportTables, of_protocol: str, asked: str | None) -> str | None:
    """The model that raters are compared with.

    Args:
        tables: of the report.
        of_protocol: the protocol's model, "" for none.
        asked: the user's choice; None for the protocol's.

    Returns:
        None if there are several models and none is named.

    Raises:
        Refused: there is no model of the requested name.
    """
    models = [each.rater for each in tables.overall if each.kind == "model"]
    if asked is not None:
        if asked not in models:
            raise Refused(f"{asked!r} is no model of this study; there are {', '.join(models) or 'none'}.")
        return asked
    return of_protocol if of_protocol in models else models[0] if len(models) == 1 else None
