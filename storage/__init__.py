"""Access to the database and the image files. Functions take and return domain objects, never rows.

The database is SQLite by default; ``OVERREAD_DATABASE_URL`` selects PostgreSQL. Both have the same tables.
"""
