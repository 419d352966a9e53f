"""The formats of question files. Each module converts the records of one format to native records.

A module has ``looks_like(record)``, which recognises a file by its first record, and a class whose
``read(name, raw)`` returns the native record or raises InvalidValue with the field and the reason.
"""
