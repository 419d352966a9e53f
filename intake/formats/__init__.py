"""The formats that intake reads: each maps its own record onto the native one.

A module has ``looks_like(record)`` for recognising a file by its first record, and a class whose
``read(name, raw)`` gives the native record or raises InvalidValue with the field and the reason.
"""
