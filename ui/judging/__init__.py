"""The review form: what the page hands to it and what it sends back. ``frontend/src/review/`` is the form."""
