"""The reading form's requests and data. ``frontend/src/reading/`` is the form."""
