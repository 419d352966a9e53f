"""Redirects the browser from a script run, in the same way as ``st.login``."""

from __future__ import annotations

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx


def redirect_to(address: str) -> None:
    """Redirect the browser from Streamlit's page to ``address``, a path of this app.

    Do nothing if the script runs without a browser.
    """
    context = get_script_run_ctx()
    if context is not None:
        message = ForwardMsg()
        message.auth_redirect.url = address
        context.enqueue(message)
