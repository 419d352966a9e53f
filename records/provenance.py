"""The field ``provenance`` of a native record, and its JSON in the database and in releases."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from domain.provenance import EvidenceKind, Provenance
from records.decoding import make_converter, make_decoder


class EvidenceRecord(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, kw_only=True, gc=False):
    """A fact on which the question is based."""

    kind: Annotated[
        EvidenceKind,
        Meta(
            description="A sentence of the report, a bullet that a model wrote from it, a coded finding of "
            "the source, or a rule of the exclusion table."
        ),
    ]
    text: str = ""
    finding: str | None = None
    present: Annotated[bool | None, Meta(description="Whether the finding is present.")] = None
    region: str | None = None


class CallRecord(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, kw_only=True, gc=False):
    """A reply of a language model that was used."""

    stage: Annotated[str, Meta(description="The stage of the recipe.")]
    prompt: Annotated[str | None, Meta(description="The prompt version, such as mcq@2.")] = None
    model: Annotated[str | None, Meta(description="The model as returned by the server.")] = None
    run: Annotated[str | None, Meta(description="The model run.")] = None
    request: Annotated[str | None, Meta(description="The id of the request in the run.")] = None
    key: Annotated[str | None, Meta(description="The key of the call in the ledger.")] = None


class ProvenanceRecord(
    msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, kw_only=True, gc=False
):
    """The origin of the question. It reveals the answer."""

    record: Annotated[str, Meta(description="The id of the record in the source, such as its report.")]
    source: Annotated[str | None, Meta(description="The kind of source, such as openi-csv.")] = None
    evidence: tuple[EvidenceRecord, ...] = ()
    calls: tuple[CallRecord, ...] = ()


_decoder = make_decoder(Provenance)
_to_record = make_converter(ProvenanceRecord, from_attributes=True)
_from_record = make_converter(Provenance, from_attributes=True)


def provenance_to_record(provenance: Provenance) -> ProvenanceRecord:
    """Convert an origin to its record."""
    return _to_record(provenance)


def provenance_from_record(record: ProvenanceRecord) -> Provenance:
    """Convert the record of an origin."""
    return _from_record(record)


def provenance_from_json(text: str) -> Provenance:
    """Convert the JSON of a record to an origin."""
    return _decoder.decode(text)
