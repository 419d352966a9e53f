"""What the screens share and what knows Streamlit: door, shell, context, state, parts."""
