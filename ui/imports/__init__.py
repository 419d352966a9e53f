"""Importing in the browser: the files to import, and the import jobs."""
