"""The manifest of a release: origin, settings, counts, and the SHA-256 of each file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from domain.audit import AuditHead
from domain.batches import Batch, Stratum
from release.rule import RULE
from release.tally import Tally

FORMAT = "overread.release/1"
#: The version of the software that wrote the manifest; a test compares it with pyproject.toml.
VERSION = "0.1.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of a release. ``path`` is relative to the folder and has forward slashes."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnBatch:
    """A batch of a release, with the strata of each of its draws, and its plan as JSON values.

    ``from_search`` is True if a search selected its questions; it is not a random sample then.
    """

    batch: Batch
    plan: dict[str, Any]
    draws: tuple[tuple[Stratum, ...], ...]
    from_search: bool = False


def render_manifest(
    *,
    name: str,
    dataset: str,
    batches: Sequence[DrawnBatch],
    tally: Tally,
    last_verdict_at: str | None,
    settings: dict[str, Any],
    splits: dict[str, Any] | None,
    limitations: dict[str, dict[str, int]],
    files: Sequence[Entry],
    audit_head: AuditHead | None = None,
) -> bytes:
    """Return the content of the manifest, which does not depend on the time or the machine.

    ``audit_head`` is the audit entry of the last judgement in the release. If it is None, the manifest has no
    key "audit".
    """
    manifest = {
        "format": FORMAT,
        "name": name,
        "dataset": dataset,
        "rule": RULE,
        "software": {"name": "overread", "version": VERSION},
        "settings": settings,
        "last_verdict_at": last_verdict_at,
        **({} if audit_head is None else {"audit": asdict(audit_head)}),
        "counts": tally.to_json(),
        "splits": splits,
        "lacks": limitations,
        "batches": [_batch_to_json(drawn_batch) for drawn_batch in batches],
        "files": [
            {"path": file.path, "bytes": file.bytes, "sha256": file.sha256}
            for file in sorted(files, key=lambda file: file.path)
        ],
    }
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def _batch_to_json(drawn_batch: DrawnBatch) -> dict[str, Any]:
    settings = drawn_batch.batch.settings
    return {
        "name": drawn_batch.batch.name,
        **({"random_sample": False} if drawn_batch.from_search or drawn_batch.plan.get("balance") else {}),
        "plan": drawn_batch.plan,
        "mode": settings.mode.value,
        "parts": settings.parts.value,
        "show_report": settings.show_report,
        **({"one_key_accept": True} if settings.one_key_accept else {}),
        "guideline": settings.guideline,
        "draws": [
            [
                {
                    "stratum": stratum.name,
                    "size": stratum.size,
                    "drawn": stratum.drawn,
                    "inclusion_probability": stratum.inclusion_probability,
                }
                for stratum in strata
            ]
            for strata in drawn_batch.draws
        ],
    }


def parse_entries(manifest: dict[str, Any]) -> tuple[Entry, ...]:
    """Return the files that a manifest lists.

    Raises:
        KeyError: a key of this version of the manifest is missing.
        TypeError: a value has a type that this version does not have.
    """
    return tuple(
        Entry(path=str(file["path"]), bytes=int(file["bytes"]), sha256=str(file["sha256"]))
        for file in manifest["files"]
    )
