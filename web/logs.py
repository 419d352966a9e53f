"""The app's log: one line per request or error, with time, level, error id, person's id, route and duration.

The log never contains patient data, tokens, question texts or typed input. Query strings and exception
messages are therefore left out, because they may quote such values. An exception is logged by its type and
the calls that led to it.
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
_FIELD_NAMES = ("error", "person", "method", "route", "status", "ms", "request", "client", "process")
_MAX_FRAMES = 12
_SAFE_FACTORY_MARK = "overread_safe"


def configure_logs() -> None:
    """Set the format of every logger of this process: JSON lines for ``OVERREAD_LOG=json``, else key=value.

    ``OVERREAD_LOG_LEVEL`` is the lowest level of the app's own loggers (info by default). Existing loggers
    without a file handler lose their handlers and propagate to the root logger.
    """
    strip_exception_values()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonFormatter() if os.environ.get("OVERREAD_LOG", "") == "json" else KeyValueFormatter()
    )
    root = logging.getLogger()
    root.handlers = [handler]
    level = os.environ.get("OVERREAD_LOG_LEVEL", "info").upper()
    logging.getLogger("overread").setLevel(level if level in logging.getLevelNamesMapping() else "INFO")
    for name in list(logging.root.manager.loggerDict):
        logger = logging.getLogger(name)
        if logger.handlers and not any(
            isinstance(attached, logging.FileHandler) for attached in logger.handlers
        ):
            logger.handlers, logger.propagate = [], True
    # Streamlit logs an uncaught exception with its message; ui/script_errors.py logs it without the message.
    logging.getLogger("streamlit.error_util").disabled = True


def strip_exception_values() -> None:
    """Remove messages and values of exceptions from every log record of this process and its libraries."""
    make_record = logging.getLogRecordFactory()
    if getattr(make_record, _SAFE_FACTORY_MARK, False):
        return

    def make_safe_record(*args: object, **kwargs: object) -> logging.LogRecord:
        record = make_record(*args, **kwargs)
        match record.exc_info:
            case (_, BaseException() as error, _):
                record.msg, record.args = f"{record.getMessage()}: {describe_error_location(error)}", ()
                record.exc_info = None
        if record.name == "py.warnings":  # pydicom's warnings, for example, quote values of elements
            record.msg, record.args = "library warning (text withheld)", ()
        return record

    setattr(make_safe_record, _SAFE_FACTORY_MARK, True)
    logging.setLogRecordFactory(make_safe_record)
    logging.captureWarnings(True)


def describe_error_location(error: BaseException) -> str:
    """Return the type of an exception and the calls that led to it, innermost first, without any values."""
    type_names: list[str] = []
    current: BaseException | None = error
    while current is not None and len(type_names) < 5:
        type_names.append(type(current).__name__)
        current = current.__cause__ or current.__context__
    return f"{' from '.join(type_names)} at {' < '.join(_format_calls(error.__traceback__))}"


def _format_calls(tb: TracebackType | None) -> list[str]:
    frames = traceback.extract_tb(tb)[-_MAX_FRAMES:]
    return [f"{_shorten_path(frame.filename)}:{frame.lineno} {frame.name}" for frame in reversed(frames)]


def _shorten_path(filename: str) -> str:
    path = Path(filename)
    return str(path.relative_to(_ROOT)) if path.is_relative_to(_ROOT) else "/".join(path.parts[-3:])


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Format the time in UTC, level, logger, message and the extra fields of the record."""
        return json.dumps(_collect_fields(record), ensure_ascii=True)


class KeyValueFormatter(logging.Formatter):
    """``key=value`` pairs separated by spaces; a value with a space or a quote is quoted."""

    def format(self, record: logging.LogRecord) -> str:
        """Format the same fields as :class:`JsonFormatter`."""
        return " ".join(f"{key}={_quote(value)}" for key, value in _collect_fields(record).items())


def _collect_fields(record: logging.LogRecord) -> dict[str, object]:
    timestamp = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    extras = {name: getattr(record, name, None) for name in _FIELD_NAMES}
    return {
        "time": timestamp,
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": record.getMessage(),
        **{name: value for name, value in extras.items() if value is not None},
    }


def _quote(value: object) -> str:
    text = str(value)
    needs_quotes = not text or any(char in text for char in ' "=\n\r\t')
    return json.dumps(text, ensure_ascii=True) if needs_quotes else text
