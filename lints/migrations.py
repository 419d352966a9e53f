"""Checks that landed migrations are unchanged, because existing workspaces have run them.

Their hashes are in storage/migrations/landed.sha256, in the format of ``sha256sum``. ``make landed`` adds the
line of a new migration. To change the effect of a landed migration, add a new one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from lints.source import Violation

LANDED = "storage/migrations/landed.sha256"
VERSIONS = "storage/migrations/versions"


def find_changed_migrations(root: Path) -> Iterator[Violation]:
    """Finds migrations that were changed or removed after they landed, and new ones without a hash."""
    recorded_hashes, present_hashes = read_landed(root), hash_migrations(root)
    for name in sorted({*recorded_hashes, *present_hashes}):
        if name not in recorded_hashes:
            problem = "it has no hash in landed.sha256; run `make landed` and commit the result"
        elif name not in present_hashes:
            problem = "it has landed and is missing; workspaces that ran it need it"
        elif recorded_hashes[name] != present_hashes[name]:
            problem = "it was changed after it landed; undo that, and write a new migration"
        else:
            continue
        yield Violation(path=f"{VERSIONS}/{name}", line=1, rule="landed-migration", text=problem)


def record_landed(root: Path) -> None:
    """Add the hashes of new migrations. Recorded hashes are not changed."""
    hashes = hash_migrations(root) | read_landed(root)
    lines = [f"{sha256}  {name}\n" for name, sha256 in sorted(hashes.items())]
    (root / LANDED).write_text("".join(lines), encoding="utf-8")


def read_landed(root: Path) -> dict[str, str]:
    """Return the recorded SHA-256 of each landed migration, by file name."""
    file = root / LANDED
    if not file.exists():
        return {}
    pairs = (line.split(maxsplit=1) for line in file.read_text(encoding="utf-8").splitlines() if line)
    return {name: sha256 for sha256, name in pairs}


def hash_migrations(root: Path) -> dict[str, str]:
    """Return the SHA-256 of each existing migration, by file name."""
    files = sorted((root / VERSIONS).glob("*.py"))
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
