"""The database tables, one module per group. Rows never leave storage; its functions use domain objects.

Building a table class takes about 3 ms, so other modules import only the groups that they use. SQLAlchemy
resolves foreign keys by table name, so each group imports the groups that its foreign keys refer to.
The groups do not use ``from __future__ import annotations``, because pydantic would then have to evaluate
each annotation from its text.
"""
