"""The review, reading and adjudication forms as Streamlit components."""
