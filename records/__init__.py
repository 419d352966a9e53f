"""Converts questions, boxes, answers, corrections and verdicts to JSON and database columns, and back.

All code that stores, exports, imports or sends one of these objects uses this package. Their classes are in
`domain`.
"""
