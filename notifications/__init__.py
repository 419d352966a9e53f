"""Notices by e-mail about assigned work; sent by background jobs."""
