"""Handles unexpected exceptions of pages: the person and the log get the same error number."""

from __future__ import annotations

import logging

import streamlit as st

from web.errors import describe_unexpected_error, generate_error_number
from web.logs import describe_error_location

_LOG = logging.getLogger("overread.errors")


def handle_script_error(error: Exception) -> bool:
    """Handle an exception of a page, a fragment or a callback. Streamlit calls this as its error hook.

    Returns:
        True, so that Streamlit shows nothing else.
    """
    number = generate_error_number()
    _LOG.error(
        describe_error_location(error),
        extra={"error": number, "route": f"page {_find_page_name(st.context.url)}"},
    )
    st.error(describe_unexpected_error(number))
    return True


def _find_page_name(url: object) -> str:
    """Return the name of the page in its address, without the query; "?" if the address is unknown."""
    return "/" + url.split("?")[0].rstrip("/").rsplit("/", 1)[-1] if isinstance(url, str) and url else "?"
