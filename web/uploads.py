"""Keeps uploads in memory until the app decides what to store.

Streamlit holds uploads in memory, but the form parser below it first writes everything over 1 MB to the
system's temporary folder. That folder would then contain an original that must not be stored anywhere.
"""

from __future__ import annotations

from starlette.formparsers import MultiPartParser

#: More than the largest upload that .streamlit/config.toml permits.
_MAX_SPOOL_BYTES = 1 << 30


def keep_uploads_in_memory() -> None:
    """Set this for the whole process; Streamlit's own limit on the size of an upload still applies."""
    MultiPartParser.spool_max_size = _MAX_SPOOL_BYTES
