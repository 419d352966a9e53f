"""Redirects the browser from a script run, in the same way as ``st.login``."""

from __future__ import annotations

import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx

from web.gate import SIGN_IN


def redirect_to_sign_in() -> None:
    """Say that nobody is signed in, and redirect the browser to the sign-in page.

    A script run without a browser shows the message only.
    """
    st.info("You are signed out.")
    context = get_script_run_ctx()
    if context is not None:
        message = ForwardMsg()
        message.auth_redirect.url = SIGN_IN
        context.enqueue(message)
