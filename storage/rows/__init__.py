"""The database tables, one module per group. Rows never leave storage; its functions use domain objects.

Building a table class takes about 3 ms, so other modules import only the groups that they use. SQLAlchemy
looks up the tables that foreign keys refer to by name, so each group imports those groups.
``from __future__ import annotations`` is left out in the groups, because pydantic would compile the text of
each annotation.
"""
