"""Requests and data of the reading form (``frontend/src/reading/``)."""
