"""API keys of model endpoints: read when they are needed, never stored, never shown."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

from domain.errors import InvalidValue
from domain.file_errors import describe_file_error

#: The environment variable of a key is this prefix and the key's name in upper case.
KEY_PREFIX = "OVERREAD_MODEL_KEY_"
#: The environment variable with the path of the key file, which has lines ``name = "key"`` (TOML).
KEY_FILE = "OVERREAD_MODEL_KEYS_FILE"
_NAME = re.compile(r"[a-z0-9][a-z0-9_]{0,40}")
#: Replaces a key in texts that a server returns.
HIDDEN = "[key]"


def check_key_name(name: str) -> str:
    """Check the name of a key.

    Raises:
        InvalidValue: it is not 1 to 41 characters a-z, 0-9 and _ that begin with a letter or digit.
    """
    if not _NAME.fullmatch(name):
        raise InvalidValue(
            "key",
            "must be the name of a key (up to 41 characters a-z, 0-9 and _, the first not _), not the key "
            "itself: the key is never stored",
        )
    return name


def read_key(name: str) -> str:
    """Read a key from the environment, else from the key file.

    Raises:
        InvalidValue: there is no such key, or the file cannot be read. The text never contains a key.
    """
    variable = f"{KEY_PREFIX}{name.upper()}"
    key = os.environ.get(variable, "").strip() or _read_key_file().get(name, "")
    if not key:
        raise InvalidValue(
            "key",
            f'set {variable}, or add the line {name} = "…" to the file that {KEY_FILE} names; then restart',
        )
    return key


def hide_key(text: str, key: str | None) -> str:
    """Replace the key in a text that a server sent."""
    return text.replace(key, HIDDEN) if key else text


def _read_key_file() -> dict[str, str]:
    value = os.environ.get(KEY_FILE, "").strip()
    if not value:
        return {}
    path = Path(value).expanduser()
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidValue(KEY_FILE, f"{path}: {describe_file_error(error)}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):  # the error could quote the file
        raise InvalidValue(KEY_FILE, f'{path} must have lines of the form name = "key" (TOML)') from None
    return {name: key for name, key in content.items() if isinstance(key, str)}
