"""The flat records of ``measures.json``, one module a kind of record; what is undefined is None, and
``note`` says why.
"""
