"""Requests and data of the review form (``frontend/src/review/``)."""
