"""Uploads stay in memory until the app decides what is kept of them.

Streamlit holds uploads in memory, but the parser of forms under it writes whatever is over 1 MB to a file in
the system's folder of temporary files first. There an original would lie that is to be kept nowhere.
"""

from __future__ import annotations

from starlette.formparsers import MultiPartParser

#: Above the largest upload that .streamlit/config.toml allows.
_NEVER_ON_DISK = 1 << 30


def keep_uploads_in_memory() -> None:
    """For this process; Streamlit's own limit on the size of an upload holds as before."""
    MultiPartParser.spool_max_size = _NEVER_ON_DISK
