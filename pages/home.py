"""Home: what to do next, by role."""

from __future__ import annotations

import streamlit as st

from ui.context import require_page

person = require_page()
st.title("Overread")
st.write("Welcome.")
