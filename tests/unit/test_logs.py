"""The log is useful and has no patient data: no values of exceptions, no messages of libraries."""

from __future__ import annotations

import json
import logging
import os
import re
import warnings

import pytest

from web.errors import describe_unexpected_error, generate_error_number
from web.logs import JsonFormatter, KeyValueFormatter, describe_error_location, strip_exception_values

SECRET = "SECRET-patient Jane Roe"


@pytest.fixture(autouse=True)
def restore_log_record_factory():
    """The safe record factory, set for these tests alone."""
    previous_factory = logging.getLogRecordFactory()
    strip_exception_values()
    yield
    logging.setLogRecordFactory(previous_factory)
    logging.captureWarnings(False)


def raised():
    try:
        try:
            int(SECRET)
        except ValueError as error:
            raise KeyError(SECRET) from error
    except KeyError as error:
        return error


def make_record(**extra: object) -> logging.LogRecord:
    return logging.getLogger("overread.requests").makeRecord(
        "overread.requests", logging.INFO, __file__, 1, "request", (), None, extra=extra
    )


def test_an_exception_is_described_by_type_and_location_only():
    description = describe_error_location(raised())
    assert re.match(r"KeyError from ValueError at tests/unit/test_logs\.py:\d+ raised$", description)
    assert SECRET not in description


def test_an_exception_logged_by_a_library_shows_no_value(caplog):
    try:
        int(SECRET)
    except ValueError:
        logging.getLogger("some.reader").exception("could not read it")
    assert "could not read it: ValueError at" in caplog.text
    assert SECRET not in caplog.text


def test_a_library_warning_is_not_quoted(caplog):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn(f"invalid value for VR UI: {SECRET!r}", UserWarning, stacklevel=1)
    assert SECRET not in caplog.text


def test_a_json_line_has_time_level_person_route_and_milliseconds():
    line = json.loads(
        JsonFormatter().format(make_record(person=3, route="/review/verdict", status=200, ms=12))
    )
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line.pop("time"))
    assert line == {
        "level": "info", "logger": "overread.requests", "message": "request", "person": 3,
        "route": "/review/verdict", "status": 200, "ms": 12, "process": os.getpid(),
    }  # fmt: skip


def test_values_in_a_key_value_line_are_escaped():
    line = KeyValueFormatter().format(make_record(route='a "b"\nc', error="K7QX-2MRA"))
    assert line.count("\n") == 0
    assert line.endswith(f' message=request error=K7QX-2MRA route="a \\"b\\"\\nc" process={os.getpid()}')


def test_an_error_number_is_readable_and_shown_to_the_person():
    number = generate_error_number()
    assert re.fullmatch(r"[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}", number)
    assert number in describe_unexpected_error(number)
    assert number != generate_error_number()
