"""Keeps uploads in memory until the app decides what to store.

Streamlit holds uploads in memory, but Starlette's form parser first writes files over 1 MB to the temporary
folder of the system. This folder would then contain original images, which may have to be de-identified
first.
"""

from __future__ import annotations

from starlette.formparsers import MultiPartParser

#: More than the largest upload that .streamlit/config.toml permits.
_MAX_SPOOL_BYTES = 1 << 30


def keep_uploads_in_memory() -> None:
    """Keep all uploads of this process in memory. Streamlit's limit on their size still applies."""
    MultiPartParser.spool_max_size = _MAX_SPOOL_BYTES
