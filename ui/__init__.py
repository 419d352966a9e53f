"""The user interface in Streamlit: the shell, shared modules, and the parts of each page."""
