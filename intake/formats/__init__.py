"""The formats of question files: each module converts its records to native ones.

A module has ``looks_like(record)`` for recognising a file by its first record, and a class whose
``read(name, raw)`` gives the native record or raises InvalidValue with the field and the reason.
"""
