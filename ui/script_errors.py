"""Unexpected exceptions of pages: an error number for the person, and the same number in the log."""

from __future__ import annotations

import logging

import streamlit as st

from web.errors import describe_unexpected_error, generate_error_number
from web.logs import describe_error_location

_LOG = logging.getLogger("overread.errors")


def handle_script_error(error: Exception) -> bool:
    """Handle exceptions of pages, fragments and callbacks, as Streamlit's hook.

    Returns:
        True: Streamlit shows nothing else.
    """
    number = generate_error_number()
    _LOG.error(
        describe_error_location(error), extra={"error": number, "route": f"page {_page_path(st.context.url)}"}
    )
    st.error(describe_unexpected_error(number))
    return True


def _page_path(url: object) -> str:
    """Return the page's name in its address, without the query."""
    return "/" + url.split("?")[0].rstrip("/").rsplit("/", 1)[-1] if isinstance(url, str) and url else "?"
