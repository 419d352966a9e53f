"""Deposits of the audit trail's head outside the workspace: files in a folder, or objects in a bucket.

A deposit is a JSON file with the number and the hash of an entry. It shows later that the trail up to that
entry was neither rewritten nor truncated. A signature with a key outside the workspace shows that the
deposits were not replaced by somebody who can write to their location. Deposits are never overwritten.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from domain.audit import canonical
from domain.errors import InvalidValue, NotNow
from domain.file_errors import add_filename_to_errors, describe_file_error
from records.decoding import decode_json
from storage.workspace import Workspace

FORMAT = "overread.audit-head/1"
_ADDRESS_VARIABLE, _KEY_VARIABLE = "OVERREAD_AUDIT_DEPOSIT", "OVERREAD_AUDIT_KEY"
_PUBLIC_KEY_VARIABLE, _LOCK_DAYS_VARIABLE = "OVERREAD_AUDIT_PUBLIC_KEY", "OVERREAD_AUDIT_LOCK_DAYS"
_TIMEOUT = {
    "connect_timeout": 3,
    "read_timeout": 10,
    "retries": {"mode": "standard", "total_max_attempts": 2},
}


class _Content(msgspec.Struct, kw_only=True):
    """The content of a deposit. ``signature`` is hexadecimal; it is "" if there is no key."""

    format: str
    number: int
    head: str
    at: str
    signature: str = ""

    def signed_text(self) -> bytes:
        return canonical([self.format, self.number, self.head, self.at]).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deposit:
    """A deposited head: the hash of the entry ``number``. ``name`` is the name of the deposit's file.

    ``fault`` states why the deposit cannot be trusted; it is None if the deposit can be trusted.
    """

    name: str
    number: int
    head: str
    at: datetime
    signed: bool
    fault: str | None = None


class _DepositStore(Protocol):
    def write(self, name: str, content: bytes, *, now: datetime) -> None:
        """Store a file. An existing file is not changed."""

    def read_all(self) -> Iterator[tuple[str, bytes]]:
        """Yield names and contents of all deposits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deposits:
    """The deposits of a workspace, with the keys that sign and verify them; None if a key is not set."""

    address: str
    store: _DepositStore
    private_key: Ed25519PrivateKey | None
    public_key: Ed25519PublicKey | None

    def add(self, *, number: int, head: str, now: datetime) -> str:
        """Deposit the hash of an entry and return the name of the file.

        Raises:
            NotNow: the file cannot be written.
        """
        content = _Content(format=FORMAT, number=number, head=head, at=now.astimezone(UTC).isoformat())
        if self.private_key is not None:
            content.signature = self.private_key.sign(content.signed_text()).hex()
        name = f"{number:012d}-{head[:16]}.json"
        self.store.write(name, msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n", now=now)
        return name

    def load_all(self) -> tuple[Deposit, ...]:
        """Return all deposits by number.

        Raises:
            NotNow: they cannot be read.
        """
        deposits = [self._parse(name, content) for name, content in self.store.read_all()]
        return tuple(sorted(deposits, key=lambda deposit: (deposit.number, deposit.name)))

    def _parse(self, name: str, text: bytes) -> Deposit:
        try:
            content = decode_json(text, _Content)
            at = datetime.fromisoformat(content.at)
            if content.format != FORMAT or at.tzinfo is None:
                raise ValueError(f"format {content.format!r}")
        except ValueError as error:
            return Deposit(
                name=name, number=0, head="", at=datetime.min.replace(tzinfo=UTC), signed=False,
                fault=f"it cannot be read ({error})",
            )  # fmt: skip
        fault = None
        if self.public_key is not None:
            try:
                self.public_key.verify(bytes.fromhex(content.signature), content.signed_text())
            except (InvalidSignature, ValueError):
                fault = "it is not signed with the key" if content.signature else "it is not signed"
        return Deposit(
            name=name, number=content.number, head=content.head, at=at, fault=fault,
            signed=self.public_key is not None and fault is None,
        )  # fmt: skip


def current_deposits(workspace: Workspace) -> Deposits | None:
    """Return the deposits that the environment configures; None without ``OVERREAD_AUDIT_DEPOSIT``.

    Raises:
        InvalidValue: a setting or key is not valid, or the location or private key is in the workspace.
    """
    address = os.environ.get(_ADDRESS_VARIABLE, "").strip()
    if not address:
        return None
    private_key, public_key = None, None
    if key := os.environ.get(_KEY_VARIABLE, "").strip():
        private_key = _load_key(_KEY_VARIABLE, _require_outside(_KEY_VARIABLE, key, workspace), private=True)
        public_key = private_key.public_key()
    if key := os.environ.get(_PUBLIC_KEY_VARIABLE, "").strip():
        public_key = _load_key(_PUBLIC_KEY_VARIABLE, Path(key).expanduser(), private=False)
        if private_key is not None and _raw_bytes(public_key) != _raw_bytes(private_key.public_key()):
            raise InvalidValue(_PUBLIC_KEY_VARIABLE, f"{key} does not belong to the key of {_KEY_VARIABLE}")
    store: _DepositStore
    if address.startswith("s3://"):
        store = _Bucket(address.removeprefix("s3://").strip("/"), lock_days=_lock_days())
    else:
        store = _Folder(_require_outside(_ADDRESS_VARIABLE, address, workspace))
    return Deposits(address=address, store=store, private_key=private_key, public_key=public_key)


def _require_outside(setting: str, value: str, workspace: Workspace) -> Path:
    path = Path(value).expanduser().resolve()
    if path.is_relative_to(workspace.home.resolve()):
        raise InvalidValue(setting, f"{path} is inside the workspace; choose a place outside it")
    return path


def _load_key(setting: str, path: Path, *, private: bool) -> Any:  # noqa: ANN401 - a private or a public key
    try:
        text = path.read_bytes()
        key = load_pem_private_key(text, password=None) if private else load_pem_public_key(text)
    except OSError as error:
        raise InvalidValue(setting, f"{path}: {describe_file_error(error)}") from error
    except (ValueError, TypeError) as error:
        raise InvalidValue(setting, f"{path} is not an unencrypted PEM file of a key") from error
    if not isinstance(key, Ed25519PrivateKey if private else Ed25519PublicKey):
        raise InvalidValue(setting, f"{path} is not an Ed25519 key: `openssl genpkey -algorithm ed25519`")
    return key


def _raw_bytes(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def _lock_days() -> int | None:
    value = os.environ.get(_LOCK_DAYS_VARIABLE, "").strip()
    if not value:
        return None
    if not value.isdecimal() or not int(value):
        raise InvalidValue(_LOCK_DAYS_VARIABLE, f"must be a whole number of days above 0, not {value!r}")
    return int(value)


class _Folder:
    """Deposits in a folder, such as a network folder of another system."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, name: str, content: bytes, *, now: datetime) -> None:  # noqa: ARG002 - for buckets only
        path = self._folder / name
        try:
            if path.exists():
                return
            staged = path.with_suffix(".making")
            with add_filename_to_errors(staged), staged.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            staged.replace(path)
        except OSError as error:
            raise NotNow(f"The head could not be deposited. {describe_file_error(error)}") from error

    def read_all(self) -> Iterator[tuple[str, bytes]]:
        try:
            if not self._folder.is_dir():
                raise FileNotFoundError(2, "No such folder", str(self._folder))
            for path in sorted(self._folder.glob("*.json")):
                yield path.name, path.read_bytes()
        except OSError as error:
            raise NotNow(
                f"The deposits in {self._folder} could not be read. {describe_file_error(error)}"
            ) from error


class _Bucket:
    """Deposits in a bucket. With ``lock_days`` nobody can delete or replace them for that many days.

    The bucket must have object lock, which keeps all versions of an object.
    """

    def __init__(self, root: str, *, lock_days: int | None) -> None:
        import s3fs  # noqa: PLC0415 - takes half a second and is needed for buckets only

        self._root, self._lock_days = root, lock_days
        self._files = s3fs.S3FileSystem(
            skip_instance_cache=True, use_listings_cache=False, config_kwargs=_TIMEOUT
        )

    def write(self, name: str, content: bytes, *, now: datetime) -> None:
        lock: dict[str, Any] = {}
        if self._lock_days is not None:
            until = now + timedelta(days=self._lock_days)
            lock = {"ObjectLockMode": "COMPLIANCE", "ObjectLockRetainUntilDate": until}
        try:
            self._files.pipe_file(f"{self._root}/{name}", content, **lock)
        except Exception as error:  # the library's connection errors have no narrower base class
            raise NotNow(f"The head could not be deposited in s3://{self._root}: {error}") from error

    def read_all(self) -> Iterator[tuple[str, bytes]]:
        try:
            for path in sorted(self._files.ls(self._root, detail=False, refresh=True)):
                if path.endswith(".json"):
                    yield path.rpartition("/")[2], self._files.cat_file(path)
        except FileNotFoundError:
            return
        except Exception as error:  # as above
            raise NotNow(f"The deposits in s3://{self._root} could not be read: {error}") from error
