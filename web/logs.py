"""The app's log: one line per request or fault, with time, level, error number, person's number, route, ms.

The log never contains patient data, tokens, question texts or typed input. It therefore contains no URL with
its query and no message of an exception (a message may quote a value). Of an exception it has only the type
and the place where it was raised.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

_ROOT = Path(__file__).resolve().parents[1]
_FIELDS = ("error", "person", "method", "route", "status", "ms")
_FRAMES_AT_MOST = 12
_SAFE_FACTORY = "overread_safe"


def configure_logs() -> None:
    """Set the format of every logger of this process: JSON lines for ``OVERREAD_LOG=json``, else key=value.

    ``OVERREAD_LOG_LEVEL`` is the lowest level written (info by default). Existing loggers without a file
    handler lose their handlers and propagate to the root logger.
    """
    without_values()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if os.environ.get("OVERREAD_LOG", "") == "json" else KeyValue())
    root = logging.getLogger()
    root.handlers = [handler]
    level = os.environ.get("OVERREAD_LOG_LEVEL", "info").upper()
    logging.getLogger("overread").setLevel(level if level in logging.getLevelNamesMapping() else "INFO")
    for name in list(logging.root.manager.loggerDict):
        logger = logging.getLogger(name)
        if logger.handlers and not any(isinstance(each, logging.FileHandler) for each in logger.handlers):
            logger.handlers, logger.propagate = [], True
    # Streamlit logs an uncaught exception with its message; on_script_error logs it without (errors.py).
    logging.getLogger("streamlit.error_util").disabled = True


def without_values() -> None:
    """Remove messages and values of exceptions from every log record of this process and its libraries."""
    make = logging.getLogRecordFactory()
    if getattr(make, _SAFE_FACTORY, False):
        return

    def safe(*args: object, **kwargs: object) -> logging.LogRecord:
        record = make(*args, **kwargs)
        match record.exc_info:
            case (_, BaseException() as error, _):
                record.msg, record.args = f"{record.getMessage()}: {where(error)}", ()
                record.exc_info = None
        if record.name == "py.warnings":  # for example of pydicom: they quote the element's value
            record.msg, record.args = "a library warned", ()
        return record

    setattr(safe, _SAFE_FACTORY, True)
    logging.setLogRecordFactory(safe)
    logging.captureWarnings(True)


def where(error: BaseException) -> str:
    """The type of an exception and the calls that led to it, innermost first. No message, no values."""
    kinds: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(kinds) < 5:
        kinds.append(type(seen).__name__)
        seen = seen.__cause__ or seen.__context__
    return f"{' from '.join(kinds)} at {' < '.join(_calls(error.__traceback__))}"


def _calls(found: TracebackType | None) -> list[str]:
    frames = traceback.extract_tb(found)[-_FRAMES_AT_MOST:]
    return [f"{_shown(frame.filename)}:{frame.lineno} {frame.name}" for frame in reversed(frames)]


def _shown(filename: str) -> str:
    path = Path(filename)
    return str(path.relative_to(_ROOT)) if path.is_relative_to(_ROOT) else "/".join(path.parts[-3:])


class JsonLines(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Time in UTC, level, logger, message, and the fields of the record."""
        return json.dumps(_fields(record), ensure_ascii=True)


class KeyValue(logging.Formatter):
    """``key=value`` pairs separated by spaces; a value with a space or a quote is quoted."""

    def format(self, record: logging.LogRecord) -> str:
        """The same fields as in :class:`JsonLines`."""
        return " ".join(f"{key}={_quoted(value)}" for key, value in _fields(record).items())


def _fields(record: logging.LogRecord) -> dict[str, object]:
    moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    kept = {name: getattr(record, name, None) for name in _FIELDS}
    return {
        "time": moment,
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": record.getMessage(),
        **{name: value for name, value in kept.items() if value is not None},
    }


def _quoted(value: object) -> str:
    text = str(value)
    plain = text and not any(sign in text for sign in ' "=\n\r\t')
    return text if plain else json.dumps(text, ensure_ascii=True)
