"""Automatic checks of questions, which run before expert review."""
