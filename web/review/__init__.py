"""The review form's requests and data. ``frontend/src/review/`` is the form."""
