"""Requests to language models: one client, a ledger of all calls, and runs that survive a restart.

Generation, content checks and evaluation ask models through this package and in no other way.
"""
