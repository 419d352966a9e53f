"""Access to the database and the image files. Functions take and return domain objects, never rows.

The database is SQLite by default, PostgreSQL by ``OVERREAD_DATABASE_URL``. Both have the same tables.
"""
