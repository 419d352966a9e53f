"""The adjudication form's requests and data. ``frontend/src/adjudication/`` is the form."""
