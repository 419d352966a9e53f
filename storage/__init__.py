"""The database and the image files: domain objects in and out, never rows.

SQLite by default, PostgreSQL by ``OVERREAD_DATABASE_URL``; the same tables on both.
"""
